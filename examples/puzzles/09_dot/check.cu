// The check of puzzle 9: -DPUZZLE names the file to be checked.
#include "puzzle.h"
#include PUZZLE

int main()
{
    const int n = 1000;
    const std::vector<float> x = numbers(n), y = numbers(n, 1);
    std::vector<float> wanted(1);
    for (int i = 0; i < n; i++)
        wanted[0] += x[i] * y[i];
    float *sum = space<float>(1), *dx = on_device(x), *dy = on_device(y);
    cudaMemset(sum, 0, sizeof(float));
    count_begin();
    dot<<<(n + 127) / 128, 128>>>(sum, dx, dy, n);
    const gr__simt_counters c = count_end();
    compare("sum", sum, wanted);
    budget("requests to global memory", c.global_requests, 2 * 32 + 8, "one atomic for a block");
    cudaFree(dx), cudaFree(dy);
    return verdict();
}
