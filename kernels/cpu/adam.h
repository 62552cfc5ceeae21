/*
 * adam.h - Adam's update of a row of parameters, for adam_step and dense_adam.
 *
 *   m += (1-b1)(g-m)      v += (1-b2)(g^2-v)      p -= rate m / (sqrt(v) + eps_t)
 *
 * with c1 = 1-b1^t, c2 = sqrt(1-b2^t), t the updates applied, this one included, and rate = lr c2/c1. Keras' form has
 * eps_t = eps; PyTorch's, lr/c1 m / (sqrt(v)/c2 + eps), becomes the same with eps_t = eps c2.
 */
#ifndef GRADUS_CPU_ADAM_H
#define GRADUS_CPU_ADAM_H

#include "kernels/cpu/cpu.h"

typedef struct {
    float one_minus_beta1, one_minus_beta2, rate, epsilon;
    float coupled, decoupled; /* weight decay: of the gradient; of p, times lr */
} adam_numbers;

INLINE adam_numbers adam_at(const gr_adam_args *a, const gr_step_state *state)
{
    const double t = (double)state->update - state->skipped, c1 = 1 - pow(a->beta1, t), c2 = sqrt(1 - pow(a->beta2, t));
    const double epsilon = a->form == GR_ADAM_PYTORCH ? a->epsilon * c2 : a->epsilon;
    return (adam_numbers){(float)(1 - a->beta1),
                          (float)(1 - a->beta2),
                          (float)(state->lr * c2 / c1),
                          (float)epsilon,
                          a->decoupled ? 0 : (float)a->weight_decay,
                          a->decoupled ? (float)(state->lr * a->weight_decay) : 0};
}

enum { ADAM_AHEAD = 512 }; /* floats from the element at work to those asked for: moments come from memory */

/* n (1..VL) elements. */
INLINE void adam_vector(const adam_numbers *a, const float *g, float *p, float *m, float *v, int64_t n)
{
    prefetch(m + ADAM_AHEAD);
    prefetch(v + ADAM_AHEAD);
    const vec p_old = vec_load_n(p, n), m_old = vec_load_n(m, n), v_old = vec_load_n(v, n);
    const vec grad = vec_load_n(g, n) + a->coupled * p_old;
    const vec m_new = m_old + a->one_minus_beta1 * (grad - m_old);
    const vec v_new = v_old + a->one_minus_beta2 * (grad * grad - v_old);
    vec_store_n(m, m_new, n);
    vec_store_n(v, v_new, n);
    vec_store_n(p, p_old - a->decoupled * p_old - a->rate * m_new / (vec_sqrt(v_new) + a->epsilon), n);
}

INLINE void adam_row(const adam_numbers *a, const float *g, float *p, float *m, float *v, int64_t count)
{
    int64_t i = 0;
    for (; i + VL <= count; i += VL)
        adam_vector(a, g + i, p + i, m + i, v + i, VL);
    if (i < count)
        adam_vector(a, g + i, p + i, m + i, v + i, count - i);
}

#endif
