/*
 * 1_row_a_thread.cu - a thread for a row, three walks over it.
 *
 * Idea      the formula as it stands: the largest number of the row, the sum of the exponentials, the quotients.
 * Slow      because the lanes of a warp read numbers that are a row apart: 32 sectors a request, an eighth of them
 *           wanted. There are only as many threads as rows. And x is read three times, each exponential made twice.
 * Counted   barriers 0; shared requests 0, conflicts 0.00 each; global requests 4096, sectors 131072; lanes 32.0
 */
#include "softmax.h"

static const int THREADS = 128;

/* y[rows,columns], x[rows,columns] */
__global__ void row_a_thread(float *y, const float *x, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    x += (size_t)row * columns, y += (size_t)row * columns;
    float largest = x[0], sum = 0;
    for (int j = 1; j < columns; j++)
        largest = fmaxf(largest, x[j]);
    for (int j = 0; j < columns; j++)
        sum += expf(x[j] - largest);
    for (int j = 0; j < columns; j++)
        y[j] = expf(x[j] - largest) / sum;
}

static void softmax(float *y, const float *x, int rows, int columns)
{
    row_a_thread<<<(rows + THREADS - 1) / THREADS, THREADS>>>(y, x, rows, columns);
}
