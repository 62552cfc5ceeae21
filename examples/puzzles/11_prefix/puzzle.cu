// Puzzle 11: Sums of all before. Task: README.md; test: gradus puzzle 11
__global__ void prefix(float *y, const float *x)
{
    // your code here
}
