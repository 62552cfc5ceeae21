// told: wrong result: y[19]
__global__ void smooth(float *y, const float *x, int rows, int columns)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < columns && (r + 1 < rows || c + 1 < columns))
        y[r * columns + c] = (x[r * columns + c] + x[r * columns + c + 1]) / 2;
    else if (r < rows && c < columns)
        y[r * columns + c] = x[r * columns + c];
}
