// The check of puzzle 6: -DPUZZLE names the file to be checked.
#include "puzzle.h"
#include PUZZLE

int main()
{
    const int n = 1000;
    const std::vector<float> x = numbers(n);
    std::vector<float> wanted(n);
    for (int i = 0; i < n; i++)
        wanted[i] = x[i] * x[i];
    float *y = space<float>(n), *dx = on_device(x);
    count_begin();
    square<<<4, 32>>>(y, dx, n);
    const gr__simt_counters c = count_end();
    compare("y", y, wanted);
    budget("sectors of global memory", c.global_sectors, 2 * n / 8 + 8,
           "threads of a warp far apart touch a sector each");
    cudaFree(dx);
    return verdict();
}
