// Puzzle 5: Outer sum. Task: README.md; test: gradus puzzle 5
__global__ void outer(float *c, const float *a, const float *b, int n, int m)
{
    // your code here
}
