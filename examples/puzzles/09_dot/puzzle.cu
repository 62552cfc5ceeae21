// Puzzle 9: A sum over a block. Task: README.md; test: gradus puzzle 9
__global__ void dot(float *sum, const float *x, const float *y, int n)
{
    // your code here
}
