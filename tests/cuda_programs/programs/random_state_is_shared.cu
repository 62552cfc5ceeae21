// All threads draw from one state: each wants one of its own.
#include <curand_kernel.h>
__global__ void throw_dice(int *dice)
{
    __shared__ curandState state;
    if (threadIdx.x == 0)
        curand_init(1234, 0, 0, &state);
    __syncthreads();
    dice[threadIdx.x] = 1 + curand(&state) % 6; // HERE: race
}
int main()
{
    int *dice;
    cudaMalloc(&dice, 32 * sizeof *dice);
    throw_dice<<<1, 32>>>(dice);
    cudaDeviceSynchronize();
    cudaFree(dice);
}
