// Elements are not bytes.
// always
int main()
{
    int h[100] = {0}, *x;
    cudaMalloc(&x, 100);
    cudaMemcpy(x, h, 100 * sizeof(int), cudaMemcpyHostToDevice); // HERE: out of bounds
    cudaFree(x);
}
