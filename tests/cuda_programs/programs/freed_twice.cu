// Freed twice.
// always
int main()
{
    int *x;
    cudaMalloc(&x, 40);
    cudaFree(x);
    cudaFree(x); // HERE: freed twice
}
