// The check of puzzle 15: -DPUZZLE names the file to be checked.
#include "puzzle.h"
#include PUZZLE

int main()
{
    std::vector<half> a(16 * 64), b(64 * 16);
    std::vector<float> wanted(16 * 16);
    for (int i = 0; i < 16 * 64; i++)
        a[i] = __float2half(number(i)), b[i] = __float2half(number(i + 5000));
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            for (int k = 0; k < 64; k++)
                wanted[i * 16 + j] += __half2float(a[i * 64 + k]) * __half2float(b[k * 16 + j]);
    float *d = space<float>(16 * 16);
    half *da = on_device(a), *db = on_device(b);
    count_begin();
    tile<<<1, 32>>>(d, da, db);
    const gr__simt_counters c = count_end();
    compare("d", d, wanted);
    budget("requests to global memory", c.global_requests, 2 * 4 * 8 + 8, "wmma reads each tile once");
    cudaFree(da), cudaFree(db);
    return verdict();
}
