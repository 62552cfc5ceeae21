// Each thread reads what its neighbour writes.
__global__ void turn_round(float *y, const float *x)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = tile[63 - threadIdx.x]; // HERE: race
}
int main()
{
    float h[64] = {0}, *x, *y;
    cudaMalloc(&x, sizeof h), cudaMalloc(&y, sizeof h);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    turn_round<<<1, 64>>>(y, x);
    cudaDeviceSynchronize();
    cudaFree(x), cudaFree(y);
}
