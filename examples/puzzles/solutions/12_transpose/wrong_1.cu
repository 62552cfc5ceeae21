// told: sectors of global memory
enum { SIDE = 64 };

__global__ void transpose(float *b, const float *a)
{
    const int c = blockIdx.x * 32 + threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8)
        b[c * SIDE + blockIdx.y * 32 + y] = a[(blockIdx.y * 32 + y) * SIDE + c];
}
