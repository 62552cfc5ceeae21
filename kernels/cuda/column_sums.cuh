/*
 * column_sums.cuh - out[k] = sum_i source(i, k): the gradient of a bias.
 *
 * A block sums 32 columns of a chunk of rows: thread (lane, part) adds every eighth row of column lane in order, then
 * part 0 adds the eight. Where there is more than one chunk, their sums go to scratch and the same kernel adds them.
 *
 * A source is a struct with   source_at(&s, row, column)
 */
#ifndef GRADUS_COLUMN_SUMS_CUH
#define GRADUS_COLUMN_SUMS_CUH

#include "kernels/cuda/gemm_plan.cuh"

enum {
    SUM_THREADS = 256,
    SUM_COLUMNS = 32,
    SUM_PARTS = SUM_THREADS / SUM_COLUMNS,
    SUM_BLOCKS = 512, /* wanted: some for each multiprocessor of a large GPU */
    LEAST_ROWS = 32 * SUM_PARTS
};

/* data[rows][columns] */
template <class E> struct plain_rows {
    const E *data;
    int64_t columns;
};

template <class E> GR_DEVICE float source_at(const plain_rows<E> *s, int64_t row, int64_t column)
{
    return float_of(s->data[row * s->columns + column]);
}

/* out[chunks][columns]; block (group of columns, chunk), the chunk fastest */
template <class SOURCE>
static __global__ void __launch_bounds__(SUM_THREADS)
    column_sums_of(float *out, SOURCE source, int64_t rows, int64_t columns, int64_t chunks, int64_t chunk_rows,
                   bool accumulate)
{
    GR_SHARED(float, part_sum, [SUM_PARTS][SUM_COLUMNS]);
    const int lane = threadIdx.x % SUM_COLUMNS, part = threadIdx.x / SUM_COLUMNS;
    const int64_t chunk = blockIdx.x % chunks, column = blockIdx.x / chunks * SUM_COLUMNS + lane;
    const int64_t end = (chunk + 1) * chunk_rows < rows ? (chunk + 1) * chunk_rows : rows;
    float sum = 0;
    for (int64_t row = chunk * chunk_rows + part; column < columns && row < end; row += SUM_PARTS)
        sum += source_at(&source, row, column);
    part_sum[part][lane] = sum;
    __syncthreads();
    if (part > 0 || column >= columns)
        return;
    for (int other = 1; other < SUM_PARTS; other++)
        sum += part_sum[other][lane];
    float *to = out + chunk * columns + column;
    *to = accumulate ? *to + sum : sum;
}

/* Chunks of rows: enough blocks, and enough rows in each. */
static inline int64_t column_chunks(int64_t rows, int64_t columns)
{
    const int64_t wanted = divide_up(SUM_BLOCKS, divide_up(columns, SUM_COLUMNS)), most = divide_up(rows, LEAST_ROWS);
    return wanted < most ? wanted : most;
}

static inline size_t column_sums_scratch(int64_t rows, int64_t columns)
{
    const int64_t chunks = column_chunks(rows, columns);
    return chunks > 1 ? (size_t)(chunks * columns) * sizeof(float) : 0;
}

template <class SOURCE>
static void column_sums(const gr_exec *exec, float *out, const SOURCE &source, int64_t rows, int64_t columns,
                        bool accumulate)
{
    const int64_t chunks = column_chunks(rows, columns), groups = divide_up(columns, SUM_COLUMNS);
    float *sums = chunks > 1 ? (float *)exec->scratch : out;
    GR_LAUNCH((column_sums_of<SOURCE>), (unsigned)(groups * chunks), SUM_THREADS, 0, exec->queue, sums, source, rows,
              columns, chunks, divide_up(rows, chunks), chunks == 1 && accumulate);
    if (chunks > 1)
        GR_LAUNCH((column_sums_of<plain_rows<float>>), (unsigned)groups, SUM_THREADS, 0, exec->queue, out,
                  plain_rows<float>{sums, columns}, chunks, columns, (int64_t)1, chunks, accumulate);
}

#endif
