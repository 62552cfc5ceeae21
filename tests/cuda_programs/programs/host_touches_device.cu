// A pointer of the device is read by the host.
// always
int main()
{
    int *x;
    cudaMalloc(&x, 40);
    return x[0]; // HERE: wrong pointer
}
