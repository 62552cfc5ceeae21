// told: over budget
__global__ void add_one(float *b, const float *a, int rows, int columns)
{
    const int all = gridDim.x * blockDim.x * gridDim.y * blockDim.y;
    const int mine = (blockIdx.y * gridDim.x + blockIdx.x) * 64 + threadIdx.x * 8 + threadIdx.y;
    for (int i = mine; i < rows * columns; i += all)
        b[i] = a[i] + 1;
}
