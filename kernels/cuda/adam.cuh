/*
 * adam.cuh - Adam's update of one element.
 *
 *   g' = g + coupled p     m += (1-b1)(g'-m)     v += (1-b2)(g'^2-v)     p -= decoupled p + rate m / (sqrt(v) + eps)
 *   Keras    rate = lr sqrt(1-b2^t) / (1-b1^t),   eps as given
 *   PyTorch  the same rate, eps sqrt(1-b2^t)                          t: applied updates, this one included
 *
 * The numbers of a step come from the step state on the device. Powers of t need double, which most GPUs do slowly, so
 * that one thread computes them once and leaves floats for all others.
 */
#ifndef GRADUS_ADAM_CUH
#define GRADUS_ADAM_CUH

#include "kernels/cuda/gpu.h"

typedef struct {
    float rest1, rest2; /* 1-b1, 1-b2 */
    float rate, epsilon;
    float coupled;   /* decay that is part of the gradient */
    float decoupled; /* lr times the decay that is not */
} adam_numbers;

/* b^t, t whole, in about as many roundings as t has bits: pow has code for bases and exponents that never come. */
GR_DEVICE double whole_power(double b, int64_t t)
{
    double power = 1;
    for (; t > 0; t /= 2, b *= b)
        power *= t % 2 ? b : 1;
    return power;
}

static __global__ void adam_prepare(adam_numbers *numbers, gr_adam_args args, const gr_step_state *state)
{
    if (threadIdx.x > 0)
        return;
    const int64_t t = state->update - (int64_t)state->skipped;
    const double c1 = 1 - whole_power(args.beta1, t), c2 = sqrt(1 - whole_power(args.beta2, t));
    numbers->rest1 = (float)(1 - args.beta1);
    numbers->rest2 = (float)(1 - args.beta2);
    numbers->rate = (float)(state->lr * c2 / c1);
    numbers->epsilon = (float)(args.form == GR_ADAM_PYTORCH ? args.epsilon * c2 : args.epsilon);
    numbers->coupled = (float)(args.decoupled ? 0 : args.weight_decay);
    numbers->decoupled = (float)(args.decoupled ? state->lr * args.weight_decay : 0);
}

GR_DEVICE void adam_element(const adam_numbers *a, float g, float *p, float *m, float *v)
{
    g += a->coupled * *p;
    *m += a->rest1 * (g - *m);
    *v += a->rest2 * (g * g - *v);
    *p -= a->decoupled * *p + a->rate * *m / (sqrtf(*v) + a->epsilon);
}

#endif
