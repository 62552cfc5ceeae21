// Puzzle 6: Fewer threads than elements. Task: README.md; test: gradus puzzle 6
__global__ void square(float *y, const float *x, int n)
{
    // your code here
}
