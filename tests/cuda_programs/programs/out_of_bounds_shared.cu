// A halo that the tile has no room for.
__global__ void blur(float *y)
{
    extern __shared__ float tile[];
    tile[threadIdx.x + 2] = 1; // HERE: out of bounds
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x + 2];
}
int main()
{
    float *y;
    cudaMalloc(&y, 32 * sizeof(float));
    blur<<<1, 32, 32 * sizeof(float)>>>(y);
    cudaDeviceSynchronize();
    cudaFree(y);
}
