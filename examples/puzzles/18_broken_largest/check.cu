// The check of puzzle 18: -DPUZZLE names the file to be checked.
#include "puzzle.h"
#include PUZZLE

int main()
{
    const int n = 300;
    std::vector<int> x(n), wanted(1, -1);
    for (int i = 0; i < n; i++) {
        x[i] = (int)number(i) * 100 + i % 7;
        wanted[0] = x[i] > wanted[0] ? x[i] : wanted[0];
    }
    int *largest = space<int>(1), *dx = on_device(x);
    cudaMemset(largest, 0xFF, sizeof(int));
    count_begin();
    find_largest<<<(n + 63) / 64, 64>>>(largest, dx, n);
    const gr__simt_counters c = count_end();
    compare("*largest", largest, wanted);
    budget("requests to global memory", c.global_requests, n / 32 + 1 + 5, "one access to *largest for each block");
    cudaFree(dx);
    return verdict();
}
