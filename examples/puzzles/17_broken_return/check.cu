// The check of puzzle 17: -DPUZZLE names the file to be checked.
#include "puzzle.h"
#include PUZZLE

int main()
{
    const int n = 150;
    const std::vector<float> x = numbers(n);
    std::vector<float> wanted(n);
    for (int i = 0; i < n; i++) {
        const int first = i / 64 * 64, have = n - first < 64 ? n - first : 64;
        wanted[i] = x[first + have - 1 - (i - first)];
    }
    float *y = space<float>(n), *dx = on_device(x);
    count_begin();
    reverse<<<3, 64>>>(y, dx, n);
    const gr__simt_counters c = count_end();
    compare("y", y, wanted);
    if (!c.barriers)
        printf("wrong way: keep the tile and its barrier\n"), gr__puzzle_mistakes++;
    cudaFree(dx);
    return verdict();
}
