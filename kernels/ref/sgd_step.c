/* sgd_step.c - reference: p -= lr (g + decay p). */
#include "kernels/ref/ref.h"

void GR_REF(sgd_step_forward)(const gr_call *call)
{
    const gr_sgd_args *args = call->options;
    const gr_step_state *state = call->exec->state;
    real *p = reals(call->in[0]);       /* [count] */
    const real *g = reals(call->in[1]); /* [count] */
    for (int64_t i = 0; !state->skip && i < call->in[0]->count; i++)
        p[i] = (real)((wide)p[i] - state->lr * ((wide)g[i] + args->weight_decay * (wide)p[i]));
}
