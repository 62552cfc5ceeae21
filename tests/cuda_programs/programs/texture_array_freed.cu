// The array is given back while a texture object uses it.
// always
__global__ void copy(float *y, cudaTextureObject_t image)
{
    y[threadIdx.x] = tex1D<float>(image, threadIdx.x + 0.5f); // HERE: freed memory: tex1D of the array of the
}
int main()
{
    float *y, x[32] = {};
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMalloc(&y, sizeof x), cudaMallocArray(&array, &format, 32);
    cudaMemcpy2DToArray(array, 0, 0, x, sizeof x, sizeof x, 1, cudaMemcpyHostToDevice);
    cudaResourceDesc what = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t image;
    what.resType = cudaResourceTypeArray, what.res.array.array = array;
    cudaCreateTextureObject(&image, &what, &how, NULL);
    cudaFreeArray(array);
    copy<<<1, 32>>>(y, image);
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(image);
    cudaFree(y);
}
