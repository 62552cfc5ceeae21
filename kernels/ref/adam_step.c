/* adam_step.c - reference of Adam over a slab; the formula is in adam.h. */
#include "kernels/ref/adam.h"

void GR_REF(adam_step_forward)(const gr_call *call)
{
    const gr_step_state *state = call->exec->state;
    const adam_numbers a = adam_at(call->options, state);
    real *p = reals(call->in[0]), *m = reals(call->in[2]), *v = reals(call->in[3]); /* [count] each */
    const real *g = reals(call->in[1]);                                             /* [count] */
    for (int64_t i = 0; !state->skip && i < call->in[0]->count; i++)
        adam_element(&a, (wide)g[i], &p[i], &m[i], &v[i]);
}
