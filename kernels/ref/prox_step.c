/*
 * prox_step.c - reference: p -= lr (g + gamma (p - anchor)); in the first step of an update anchor becomes p. A
 * skipped update goes back to where it began: p = anchor.
 */
#include "kernels/ref/ref.h"

void GR_REF(prox_step_forward)(const gr_call *call)
{
    const gr_prox_args *args = call->options;
    const gr_step_state *state = call->exec->state;
    real *p = reals(call->in[0]), *anchor = reals(call->in[2]); /* [count] */
    const real *g = reals(call->in[1]);                         /* [count] */
    for (int64_t i = 0; i < call->in[0]->count; i++) {
        if (args->first)
            anchor[i] = p[i];
        const wide step = (wide)p[i] - state->lr * ((wide)g[i] + args->gamma * ((wide)p[i] - (wide)anchor[i]));
        p[i] = state->skip ? anchor[i] : (real)step;
    }
}
