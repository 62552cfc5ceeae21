// told: over budget
__global__ void prefix(float *y, const float *x)
{
    float sum = 0;
    for (int i = 0; i <= threadIdx.x; i++)
        sum += x[i];
    y[threadIdx.x] = sum;
}
