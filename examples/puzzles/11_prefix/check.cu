// The check of puzzle 11: -DPUZZLE names the file to be checked.
#include "puzzle.h"
#include PUZZLE

int main()
{
    const int n = 128;
    const std::vector<float> x = numbers(n);
    std::vector<float> wanted = x;
    for (int i = 1; i < n; i++)
        wanted[i] += wanted[i - 1];
    float *y = space<float>(n), *dx = on_device(x);
    count_begin();
    prefix<<<1, n>>>(y, dx);
    const gr__simt_counters c = count_end();
    compare("y", y, wanted);
    budget("barriers", c.barriers, 16, "7 steps, two for each, and one before");
    budget("requests to global memory", c.global_requests, 8, "the steps go through shared memory");
    cudaFree(dx);
    return verdict();
}
