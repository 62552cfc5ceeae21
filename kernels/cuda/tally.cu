/*
 * tally.cu - total[0] += W loss, total[1+i] += counts[i], each in two numbers: the sum, and what rounding took from it.
 * W is the weight of the update, 1 where none is set; it is read from the step state, so a captured graph stays valid.
 *
 * With finite the last row gains W, and where the loss is not finite neither of the two rows gains anything.
 *
 * Launch    a thread for each row of total, blocks of 256. The two numbers are added in double and split again: 48
 *           digits.
 * Limit     latency: a handful of numbers.
 * Measured  not yet.
 */
#include "kernels/cuda/gpu.h"

enum { TALLY_THREADS = 256 };

/* total[1+k,2], with finite total[2+k,2]; loss[1], counts[k] */
static __global__ void tally(float *total, const float *loss, const float *counts, bool finite,
                             const gr_step_state *state, int64_t k)
{
    const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row > k + finite)
        return;
    const bool lost = finite && !isfinite(loss[0]);
    const double inv = state->inv_weight, weight = lost ? 0 : inv > 0 ? 1 / inv : 1;
    const double gain = row == 0  ? (lost      ? 0
                                     : inv > 0 ? loss[0] / inv
                                               : loss[0])
                        : row > k ? weight
                                  : (double)counts[row - 1];
    const double sum = (double)total[2 * row] + total[2 * row + 1] + gain;
    total[2 * row] = (float)sum;
    total[2 * row + 1] = (float)(sum - (float)sum);
}

extern "C" void GR_CUDA(tally_forward)(const gr_call *call)
{
    const int64_t k = call->in[2]->count;
    GR_LAUNCH(tally, (unsigned)((k + 1) / TALLY_THREADS + 1), TALLY_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), gr__f32(call->in[2]), ((const gr_tally_args *)call->options)->finite,
              call->exec->state, k);
}
