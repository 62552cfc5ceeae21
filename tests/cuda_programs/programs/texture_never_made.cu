// The texture object is declared, and nobody makes it.
// always
__global__ void copy(float *y, cudaTextureObject_t image)
{
    y[threadIdx.x] = tex1D<float>(image, threadIdx.x + 0.5f); // HERE: texture: tex1D is given one that no
}
int main()
{
    float *y;
    cudaTextureObject_t image = 0;
    cudaMalloc(&y, 32 * sizeof *y);
    copy<<<1, 32>>>(y, image);
    cudaDeviceSynchronize();
    cudaFree(y);
}
