// The check of puzzle 13: -DPUZZLE names the file to be checked.
#include "puzzle.h"
#include PUZZLE

int main()
{
    const std::vector<float> a = numbers(SIDE * SIDE), b = numbers(SIDE * SIDE, 1);
    std::vector<float> wanted(SIDE * SIDE);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            for (int k = 0; k < SIDE; k++)
                wanted[i * SIDE + j] += a[i * SIDE + k] * b[k * SIDE + j];
    float *c = space<float>(SIDE * SIDE), *da = on_device(a), *db = on_device(b);
    count_begin();
    matmul<<<dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, TILE)>>>(c, da, db);
    const gr__simt_counters counted = count_end();
    compare("c", c, wanted);
    budget("sectors of global memory", counted.global_sectors, (4 + 4 + 1) * SIDE * SIDE / 8,
           "each tile of A and B is read once for each block that needs it");
    cudaFree(da), cudaFree(db);
    return verdict();
}
