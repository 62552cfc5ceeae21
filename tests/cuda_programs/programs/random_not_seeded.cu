// Nobody called curand_init: the states hold what lay there before.
#include <curand_kernel.h>
__global__ void throw_dice(curandState *state, int *dice)
{
    const int i = threadIdx.x;
    dice[i] = 1 + curand(&state[i]) % 6; // HERE: uninitialised
}
int main()
{
    curandState *state;
    int *dice;
    cudaMalloc(&state, 32 * sizeof *state), cudaMalloc(&dice, 32 * sizeof *dice);
    throw_dice<<<1, 32>>>(state, dice);
    cudaDeviceSynchronize();
    cudaFree(state), cudaFree(dice);
}
