/*
 * lars_step.c - reference of LARS over one layer's weights, momentum mu.
 *
 *   r = trust |p| / (|g| + decay |p| + eps), 1 where p or g is 0     v = mu v + r (g + decay p)     p -= lr v
 */
#include "kernels/ref/ref.h"

/* |x| of x[count] */
static wide norm(const real *x, int64_t count)
{
    wide sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (wide)x[i] * (wide)x[i];
    return sqrt(sum);
}

void GR_REF(lars_step_forward)(const gr_call *call)
{
    const gr_lars_args *a = call->options;
    const gr_step_state *state = call->exec->state;
    const int64_t count = call->in[0]->count;
    real *p = reals(call->in[0]), *v = reals(call->in[2]); /* [count] */
    const real *g = reals(call->in[1]);                    /* [count] */
    const wide weights = norm(p, count), gradient = norm(g, count);
    const wide adapted = a->trust * weights / (gradient + a->weight_decay * weights + a->epsilon);
    const wide ratio = weights == 0 || gradient == 0 ? 1 : adapted;
    for (int64_t i = 0; !state->skip && i < count; i++) {
        const wide velocity = a->momentum * (wide)v[i] + ratio * ((wide)g[i] + a->weight_decay * (wide)p[i]);
        v[i] = (real)velocity;
        p[i] = (real)((wide)p[i] - state->lr * velocity);
    }
}
