// The check of puzzle 5: -DPUZZLE names the file to be checked.
#include "puzzle.h"
#include PUZZLE

int main()
{
    const int n = 24, m = 32;
    const std::vector<float> a = numbers(n), b = numbers(m, 1);
    std::vector<float> wanted(n * m);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            wanted[i * m + j] = a[i] + b[j];
    float *c = space<float>(n * m), *da = on_device(a), *db = on_device(b);
    count_begin();
    outer<<<dim3(5, 4), dim3(8, 8)>>>(c, da, db, n, m);
    const gr__simt_counters counted = count_end();
    compare("c", c, wanted);
    budget("sectors of global memory", counted.global_sectors, 170, "which index should threadIdx.x be?");
    cudaFree(da), cudaFree(db);
    return verdict();
}
