// Puzzle 15: A tile on tensor cores. Task: README.md; test: gradus puzzle 15
#include <mma.h>
using namespace nvcuda;

__global__ void tile(float *d, const half *a, const half *b)
{
    // your code here
}
