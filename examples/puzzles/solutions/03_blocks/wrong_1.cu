// told: race: write after write
__global__ void twice(float *y, const float *x, int n)
{
    const int i = threadIdx.x; // of every block
    if (i < n)
        y[i] = 2 * x[i];
}
