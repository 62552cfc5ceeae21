// told: race:
__global__ void smooth(float *y, const float *x, int rows, int columns)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c <= columns && r * columns + c + 1 < rows * columns) {
        const float right = x[r * columns + c + 1];
        y[r * columns + c] = c + 1 < columns ? (x[r * columns + c] + right) / 2 : x[r * columns + c];
    }
}
