// The second time nobody makes the generator: it was another variable's.
// always
#include <curand.h>
#include <string.h>
static void fill(float *x, bool first)
{
    curandGenerator_t generator;
    memset(&generator, 0x11, sizeof generator); // whatever lies there
    if (first)
        curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
    curandGenerateUniform(generator, x, 1000); // HERE: wrong pointer: curandGenerateUniform is given a generator
}
int main()
{
    float *x;
    cudaMalloc(&x, 1000 * sizeof *x);
    fill(x, true), fill(x, false);
    cudaFree(x);
}
