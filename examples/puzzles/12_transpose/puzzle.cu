// Puzzle 12: Rows to columns. Task: README.md; test: gradus puzzle 12
enum { SIDE = 64 };

__global__ void transpose(float *b, const float *a)
{
    // your code here
}
