// The copy counts floats, where a row's width is in bytes: three quarters of the array hold what lay there before.
__global__ void copy(float *y, cudaTextureObject_t image)
{
    y[threadIdx.x] = tex1D<float>(image, threadIdx.x + 0.5f); // HERE: uninitialised
}
int main()
{
    float *y, x[32] = {};
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMalloc(&y, sizeof x), cudaMallocArray(&array, &format, 32);
    cudaMemcpy2DToArray(array, 0, 0, x, sizeof x, 32, 1, cudaMemcpyHostToDevice);
    cudaResourceDesc what = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t image;
    what.resType = cudaResourceTypeArray, what.res.array.array = array;
    cudaCreateTextureObject(&image, &what, &how, NULL);
    copy<<<1, 32>>>(y, image);
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(image);
    cudaFreeArray(array), cudaFree(y);
}
