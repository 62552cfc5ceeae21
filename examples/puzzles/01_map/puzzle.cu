// Puzzle 1: One thread for each element. Task: README.md; test: gradus puzzle 1
__global__ void map(float *y, const float *x)
{
    // your code here
}
