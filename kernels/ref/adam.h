/*
 * adam.h - Adam's update of one element, for adam_step and dense_adam.
 *
 *   m += (1-b1)(g-m)      v += (1-b2)(g^2-v)      t: applied updates, this one included
 *   Keras    p -= lr sqrt(1-b2^t)/(1-b1^t) m / (sqrt(v) + eps)           ("epsilon hat" of the paper's section 2)
 *   PyTorch  p -= lr/(1-b1^t) m / (sqrt(v)/sqrt(1-b2^t) + eps)           (algorithm 1)
 * With g + decay p in place of g where decay is coupled; with lr decay p taken off p as well where it is decoupled.
 * Dividing PyTorch's fraction by sqrt(1-b2^t) makes both one form: p -= rate m / (sqrt(v) + eps_t).
 */
#ifndef GRADUS_REF_ADAM_H
#define GRADUS_REF_ADAM_H

#include "kernels/ref/ref.h"

typedef struct {
    wide beta1, beta2, rate, epsilon;
    wide coupled;   /* decay that is part of the gradient */
    wide decoupled; /* lr times the decay that is not */
} adam_numbers;

static inline adam_numbers adam_at(const gr_adam_args *a, const gr_step_state *state)
{
    wide t = (wide)state->update - state->skipped, c1 = 1 - pow(a->beta1, t), c2 = sqrt(1 - pow(a->beta2, t));
    wide epsilon = a->form == GR_ADAM_PYTORCH ? a->epsilon * c2 : a->epsilon;
    return (adam_numbers){a->beta1,
                          a->beta2,
                          state->lr * c2 / c1,
                          epsilon,
                          a->decoupled ? 0 : a->weight_decay,
                          a->decoupled ? state->lr * a->weight_decay : 0};
}

static inline void adam_element(const adam_numbers *a, wide g, real *p, real *m, real *v)
{
    g += a->coupled * (wide)*p;
    *m = (real)((wide)*m + (1 - a->beta1) * (g - (wide)*m));
    *v = (real)((wide)*v + (1 - a->beta2) * (g * g - (wide)*v));
    *p = (real)((wide)*p - a->decoupled * (wide)*p - a->rate * (wide)*m / (sqrt((wide)*v) + a->epsilon));
}

#endif
