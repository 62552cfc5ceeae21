// Puzzle 3: Several blocks. Task: README.md; test: gradus puzzle 3
__global__ void twice(float *y, const float *x, int n)
{
    // your code here
}
