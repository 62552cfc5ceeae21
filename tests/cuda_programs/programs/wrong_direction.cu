// Back, but called forth.
// always
int main()
{
    int h[10], *x;
    cudaMalloc(&x, sizeof h);
    cudaMemset(x, 0, sizeof h);
    cudaMemcpy(h, x, sizeof h, cudaMemcpyHostToDevice); // HERE: wrong pointer
    cudaFree(x);
}
