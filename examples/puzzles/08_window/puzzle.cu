// Puzzle 8: Neighbours: a tile with a rim. Task: README.md; test: gradus puzzle 8
__global__ void window(float *y, const float *x, int n)
{
    // your code here
}
