/*
 * softmax.h - the ladder of softmax: y[i,j] = exp(x[i,j] - max_i) / sum_j exp(x[i,j] - max_i), with a rung to a file.
 * The largest number of a row is taken off first, so that no exponential is larger than 1.
 *
 *   1_row_a_thread  a thread for a row, three walks over it
 *   2_row_a_block   a block for a row, so that neighbours read neighbours
 *   3_online        maximum and sum in one walk
 *   4_registers     a warp holds its row: it is read once
 *
 * gradus cuda 3_online.cu --check --counters [-- ROWS COLUMNS [--time]]; with a GPU: nvcc 3_online.cu
 */
#ifndef GRADUS_SOFTMAX_H
#define GRADUS_SOFTMAX_H

#include "../ladder.h"
#include <cmath>

/* What a rung defines: y of x, both [rows,columns], columns at most 1024. The arrays are the device's. */
static void softmax(float *y, const float *x, int rows, int columns);

static std::vector<float> softmax_of(const std::vector<float> &x, int rows, int columns)
{
    std::vector<float> y(x.size());
    for (int i = 0; i < rows; i++) {
        const float *row = &x[(size_t)i * columns];
        double largest = row[0], sum = 0;
        for (int j = 0; j < columns; j++)
            largest = row[j] > largest ? row[j] : largest;
        for (int j = 0; j < columns; j++)
            sum += exp(row[j] - largest);
        for (int j = 0; j < columns; j++)
            y[(size_t)i * columns + j] = (float)(exp(row[j] - largest) / sum);
    }
    return y;
}

int main(int argc, char **argv)
{
    const int rows = argument(argc, argv, 1, 128), columns = argument(argc, argv, 2, 256);
    const std::vector<float> x = numbers((size_t)rows * columns, 1);
    float *on = on_device(x), *y = space(x.size());
    measure(argc, argv, 4.0 * x.size(), 8.0 * x.size(), [=] { softmax(y, on, rows, columns); });
    const size_t wrong = mistakes(y, softmax_of(x, rows, columns), 1e-6);
    cudaFree(on);
    return wrong ? 1 : 0;
}

#endif
