// Puzzle 13: A product in tiles. Task: README.md; test: gradus puzzle 13
enum { SIDE = 64, TILE = 16 };

__global__ void matmul(float *c, const float *a, const float *b)
{
    // your code here
}
