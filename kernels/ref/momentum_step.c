/*
 * momentum_step.c - reference of SGD with momentum mu.
 *
 *   g' = g + decay p (coupled decay)     v = mu v + g'     p -= lr v, with Nesterov's p -= lr (g' + mu v)
 *   decoupled decay: g' = g, and p loses lr decay p as well
 */
#include "kernels/ref/ref.h"

void GR_REF(momentum_step_forward)(const gr_call *call)
{
    const gr_momentum_args *a = call->options;
    const gr_step_state *state = call->exec->state;
    const wide coupled = a->decoupled ? 0 : a->weight_decay, decoupled = a->decoupled ? a->weight_decay : 0;
    real *p = reals(call->in[0]), *v = reals(call->in[2]); /* [count] */
    const real *g = reals(call->in[1]);                    /* [count] */
    for (int64_t i = 0; !state->skip && i < call->in[0]->count; i++) {
        const wide grad = (wide)g[i] + coupled * (wide)p[i], velocity = a->momentum * (wide)v[i] + grad;
        const wide step = a->nesterov ? grad + a->momentum * velocity : velocity;
        v[i] = (real)velocity;
        p[i] = (real)((wide)p[i] - state->lr * (step + decoupled * (wide)p[i]));
    }
}
