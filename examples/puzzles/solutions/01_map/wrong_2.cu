// told: race: write after write
__global__ void map(float *y, const float *x)
{
    for (int i = 0; i < 32; i++)
        y[i] = x[i] + 10; // every thread does all
}
