// 2048 threads in a block, and nobody looks at the error.
// always
__global__ void nothing() {}
int main()
{
    nothing<<<1, 2048>>>(); // HERE: launch
    return 0;
}
