// A size in bytes, where numbers are counted.
// always
#include <curand.h>
int main()
{
    float *x;
    curandGenerator_t generator;
    cudaMalloc(&x, 1000 * sizeof *x);
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
    curandGenerateUniform(generator, x, 1000 * sizeof *x); // HERE: out of bounds: curandGenerateUniform of 16000 bytes
    curandDestroyGenerator(generator);
    cudaFree(x);
}
