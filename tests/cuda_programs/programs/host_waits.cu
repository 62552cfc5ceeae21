// The host looks at managed memory as it may: after it waited in one of the ways there are, at what no kernel under way
// touches, and beside a kernel that reads.
__global__ void square(int *y, const int *x)
{
    y[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x];
}
void CUDART_CB add(void *y)
{
    ((int *)y)[63] = ((int *)y)[0] + ((int *)y)[31];
}
// Beside copies in streams: what they read, what they are not at, and in the order of a stream.
void CUDART_CB fill(void *pinned)
{
    for (int i = 0; i < 32; i++)
        ((int *)pinned)[i] += i;
}
static int in_streams()
{
    int *pinned, *x, sum = 0;
    cudaStream_t a, b;
    cudaEvent_t there;
    cudaStreamCreate(&a), cudaStreamCreate(&b), cudaEventCreate(&there);
    cudaMallocHost(&pinned, 96 * sizeof(int)), cudaMalloc(&x, 32 * sizeof(int));
    for (int i = 0; i < 96; i++)
        pinned[i] = i;
    for (int way = 0; way < 4; way++) {
        cudaLaunchHostFunc(a, fill, pinned);
        cudaMemcpyAsync(x, pinned, 32 * sizeof(int), cudaMemcpyHostToDevice, a);
        cudaMemcpyAsync(pinned + 32, x, 32 * sizeof(int), cudaMemcpyDeviceToHost, a);
        cudaEventRecord(there, a), cudaStreamWaitEvent(b, there, 0);
        cudaMemcpyAsync(pinned + 64, x, 32 * sizeof(int), cudaMemcpyDeviceToHost, b);
        cudaLaunchHostFunc(b, fill, pinned + 64);
        sum += pinned[0] * 0; // a copy reads it, too
        if (way == 0)
            cudaStreamSynchronize(a);
        else if (way == 1)
            cudaEventSynchronize(there);
        else if (way == 2)
            cudaDeviceSynchronize();
        else
            while (cudaStreamQuery(a) != cudaSuccess)
                ;
        for (int i = 0; i < 32; i++)
            sum += pinned[32 + i];
        cudaDeviceSynchronize();
        sum += pinned[70];
    }
    cudaStreamDestroy(a), cudaStreamDestroy(b), cudaEventDestroy(there);
    cudaFreeHost(pinned), cudaFree(x);
    return sum;
}
int main()
{
    int *x, *y, *d, sum = 0, one;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaMallocManaged(&x, 64 * sizeof(int));
    cudaMallocManaged(&y, 64 * sizeof(int));
    cudaMalloc(&d, sizeof(int));
    cudaMemset(d, 0, sizeof(int));
    cudaStreamCreate(&stream), cudaEventCreate(&event);
    for (int way = 0; way < 6; way++) {
        for (int i = 0; i < 32; i++)
            x[i] = i;
        square<<<1, 32>>>(y, x);
        sum += x[3];    // the kernel reads it, too
        y[32] = x[33];  // nobody's
        if (way == 0)
            cudaDeviceSynchronize();
        else if (way == 1)
            cudaStreamSynchronize(0);
        else if (way == 2)
            cudaMemcpy(&one, d, sizeof one, cudaMemcpyDeviceToHost);
        else if (way == 3)
            cudaEventRecord(event), cudaEventSynchronize(event);
        else if (way == 4)
            square<<<1, 32, 0, stream>>>(y, x), cudaStreamSynchronize(stream);
        else
            cudaLaunchHostFunc(0, add, y), cudaFree(d);
        for (int i = 0; i < 32; i++)
            sum += y[i];
    }
    printf("%d %d %d\n", sum, y[63], in_streams());
    cudaStreamDestroy(stream), cudaEventDestroy(event);
    cudaFree(x), cudaFree(y);
    return cudaGetLastError();
}
