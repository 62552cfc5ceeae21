// The check of puzzle 4: -DPUZZLE names the file to be checked.
#include "puzzle.h"
#include PUZZLE

int main()
{
    const int rows = 20, columns = 40;
    const std::vector<float> a = numbers(rows * columns);
    std::vector<float> wanted = a;
    for (float &v : wanted)
        v += 1;
    float *b = space<float>(rows * columns), *da = on_device(a);
    count_begin();
    add_one<<<dim3(5, 3), dim3(8, 8)>>>(b, da, rows, columns);
    const gr__simt_counters c = count_end();
    compare("b", b, wanted);
    budget("sectors of global memory", c.global_sectors, 2 * rows * columns / 8,
           "do threads with neighbouring threadIdx.x have neighbouring elements?");
    cudaFree(da);
    return verdict();
}
