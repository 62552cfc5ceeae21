/*
 * 3_online.cu - maximum and sum in one walk.
 *
 * Changed   a thread keeps a pair: the largest number so far, and the sum of exp(x - largest) so far. When a larger one
 *           comes, the sum is multiplied by exp(old - new): exp(x - old) exp(old - new) = exp(x - new). Two threads'
 *           pairs are joined in the same way. (Milakov and Gimelshein 2018; attention without a matrix of scores is
 *           made of this.)
 * Faster    because x is read twice instead of three times, and one tree does for both.
 * Price     an exponential more where pairs are joined.
 * Slow      still, because a row that was read for the sum is read again for the quotients.
 * Counted   barriers 1024; shared requests 7168, conflicts 0.00 each; global requests 3072, sectors 12288; lanes 25.6
 */
#include "softmax.h"

static const int THREADS = 128;

/* sum = the sum of exp(x - largest) */
struct online {
    float largest, sum;
};

__device__ online joined(online a, online b)
{
    const float largest = fmaxf(a.largest, b.largest);
    if (largest == -INFINITY) /* of two that have seen nothing */
        return a;
    return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

/* y[rows,columns], x[rows,columns] */
__global__ void online_rows(float *y, const float *x, int columns)
{
    __shared__ float largest[THREADS], sum[THREADS];
    const int me = threadIdx.x;
    x += (size_t)blockIdx.x * columns, y += (size_t)blockIdx.x * columns;
    online mine = {-INFINITY, 0};
    for (int j = me; j < columns; j += THREADS)
        mine = joined(mine, {x[j], 1});
    largest[me] = mine.largest, sum[me] = mine.sum;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (me < s) {
            mine = joined(mine, {largest[me + s], sum[me + s]});
            largest[me] = mine.largest, sum[me] = mine.sum;
        }
        __syncthreads();
    }
    for (int j = me; j < columns; j += THREADS)
        y[j] = expf(x[j] - largest[0]) / sum[0];
}

static void softmax(float *y, const float *x, int rows, int columns)
{
    online_rows<<<rows, THREADS>>>(y, x, columns);
}
