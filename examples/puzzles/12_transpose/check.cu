// The check of puzzle 12: -DPUZZLE names the file to be checked.
#include "puzzle.h"
#include PUZZLE

int main()
{
    const std::vector<float> a = numbers(SIDE * SIDE);
    std::vector<float> wanted(SIDE * SIDE);
    for (int r = 0; r < SIDE; r++)
        for (int c = 0; c < SIDE; c++)
            wanted[c * SIDE + r] = a[r * SIDE + c];
    float *b = space<float>(SIDE * SIDE), *da = on_device(a);
    count_begin();
    transpose<<<dim3(2, 2), dim3(32, 8)>>>(b, da);
    const gr__simt_counters c = count_end();
    compare("b", b, wanted);
    budget("sectors of global memory", c.global_sectors, 2 * SIDE * SIDE / 8,
           "a column of a matrix is a sector an element");
    budget("bank conflicts", c.bank_conflicts, 0, "32 words with 32 words between them lie in one bank");
    cudaFree(da);
    return verdict();
}
