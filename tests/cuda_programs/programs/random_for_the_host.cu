// A generator of the device is given an array of the host.
// always
#include <curand.h>
int main()
{
    static float x[1000];
    curandGenerator_t generator;
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
    curandGenerateUniform(generator, x, 1000); // HERE: wrong pointer: curandGenerateUniform
    curandDestroyGenerator(generator);
}
