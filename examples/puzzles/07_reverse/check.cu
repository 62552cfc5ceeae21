// The check of puzzle 7: -DPUZZLE names the file to be checked.
#include "puzzle.h"
#include PUZZLE

int main()
{
    const int n = 256;
    const std::vector<float> x = numbers(n);
    std::vector<float> wanted(n);
    for (int i = 0; i < n; i++)
        wanted[i] = x[i / 64 * 64 + 63 - i % 64];
    float *y = space<float>(n), *dx = on_device(x);
    count_begin();
    reverse<<<n / 64, 64>>>(y, dx);
    const gr__simt_counters c = count_end();
    compare("y", y, wanted);
    if (c.shared_requests < n / 32)
        printf("wrong way: the elements should go through shared memory\n"), gr__puzzle_mistakes++;
    cudaFree(dx);
    return verdict();
}
