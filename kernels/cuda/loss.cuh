/*
 * loss.cuh - what the losses read from the step state, on the device: the weight of a sample in the whole update, and
 * by how much its gradient is scaled.
 */
#ifndef GRADUS_LOSS_CUH
#define GRADUS_LOSS_CUH

#include "kernels/cuda/gpu.h"

/* 1 / the weight of the update; without one, 1 / the N samples of the batch. */
GR_DEVICE double loss_share(const gr_step_state *state, int64_t N)
{
    return state->inv_weight > 0 ? state->inv_weight : 1 / (double)N;
}

/* Gradient of the scaled loss by the loss of a sample of weight 1. */
GR_DEVICE float loss_slope(const float *dloss, const gr_step_state *state, int64_t N)
{
    return (float)(dloss[0] * state->loss_scale * loss_share(state, N));
}

/* weight[n]; NULL: all ones. */
GR_DEVICE float sample_weight(const float *weight, int64_t n)
{
    return weight ? weight[n] : 1;
}

#endif
