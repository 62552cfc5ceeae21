// Nobody frees it.
int main()
{
    float *x;
    cudaMalloc(&x, 400); // HERE: memory leak
    cudaMemset(x, 0, 400);
    return 0;
}
