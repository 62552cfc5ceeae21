// An assert in a kernel says which thread it was.
// always
#include <assert.h>
__global__ void look(int n)
{
    assert(threadIdx.x < n); // HERE: assertion failed
}
int main()
{
    look<<<1, 32>>>(20);
    cudaDeviceSynchronize();
}
