// Puzzle 2: More threads than elements. Task: README.md; test: gradus puzzle 2
__global__ void add(float *z, const float *x, const float *y, int n)
{
    // your code here
}
