// The check of puzzle 10: -DPUZZLE names the file to be checked.
#include "puzzle.h"
#include PUZZLE

int main()
{
    const int n = 512;
    const std::vector<float> x = numbers(n);
    std::vector<float> wanted(n / 32);
    for (int i = 0; i < n; i++)
        wanted[i / 32] += x[i];
    float *sums = space<float>(n / 32), *dx = on_device(x);
    count_begin();
    warp_sums<<<n / 128, 128>>>(sums, dx);
    const gr__simt_counters c = count_end();
    compare("sums", sums, wanted);
    budget("requests to shared memory", c.shared_requests, 0, "shuffles need none");
    budget("requests to global memory", c.global_requests, 2 * n / 32, "each element is read once, one lane writes");
    cudaFree(dx);
    return verdict();
}
