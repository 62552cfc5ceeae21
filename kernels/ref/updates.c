/*
 * updates.c - reference of the steps of optimizers over a slab of parameters p with gradients g. lr is the learning
 * rate of the step state; a skipped update changes nothing, but for what prox_step, sam_climb, sam_return and clip_norm
 * say.
 *
 *   sgd_step       p -= lr (g + decay p)
 *   momentum_step  g' = g + decay p (coupled decay)    v = mu v + g'    p -= lr v, with Nesterov's p -= lr (g' + mu v)
 *                  decoupled decay: g' = g, and p loses lr decay p as well
 *   adam_step      see adam.h
 *   lars_step      over one layer's weights: r = trust |p| / (|g| + decay |p| + eps), 1 where p or g is 0
 *                  v = mu v + r (g + decay p)     p -= lr v
 *   prox_step      p -= lr (g + gamma (p - anchor)); in the first step of an update anchor becomes p. A skipped update
 *                  goes back to where it began: p = anchor
 *   sam_climb      saved = p; p += rho g / (norm + 1e-12). Whether the update is skipped does not matter: sam_return
 *                  undoes it in any case, and which updates are skipped may be known only after the second gradient
 *   sam_return     p = saved
 *   ema_step       average += share (p - average), share = 1 - min(decay, (t - 1) / (t + 8)), t applied updates
 *   lookahead_step slow += (1 - decay) (p - slow); p = slow
 *   nesterov_step  v = mu v + g; d = g + mu v, d in a skipped update as well
 *   unit_norm      x *= length / (norm + 1e-7)
 *   clip_norm      g *= min(1, limit / (norm + 1e-6)); a norm that is no number makes no number of g
 */
#include "kernels/ref/adam.h"

void GR_REF(sgd_step_forward)(const gr_call *call)
{
    const gr_sgd_args *args = call->options;
    const gr_step_state *state = call->exec->state;
    real *p = reals(call->in[0]);       /* [count] */
    const real *g = reals(call->in[1]); /* [count] */
    for (int64_t i = 0; !state->skip && i < call->in[0]->count; i++)
        p[i] = (real)((wide)p[i] - state->lr * ((wide)g[i] + args->weight_decay * (wide)p[i]));
}

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

void GR_REF(adam_step_forward)(const gr_call *call)
{
    const gr_step_state *state = call->exec->state;
    const adam_numbers a = adam_at(call->options, state);
    real *p = reals(call->in[0]), *m = reals(call->in[2]), *v = reals(call->in[3]); /* [count] each */
    const real *g = reals(call->in[1]);                                             /* [count] */
    for (int64_t i = 0; !state->skip && i < call->in[0]->count; i++)
        adam_element(&a, (wide)g[i], &p[i], &m[i], &v[i]);
}

void GR_REF(lars_step_forward)(const gr_call *call)
{
    const gr_lars_args *a = call->options;
    const gr_step_state *state = call->exec->state;
    const int64_t count = call->in[0]->count;
    real *p = reals(call->in[0]), *v = reals(call->in[2]); /* [count] */
    const real *g = reals(call->in[1]);                    /* [count] */
    const wide weights = sqrt(sum_of_squares(call->in[0])), gradient = sqrt(sum_of_squares(call->in[1]));
    const wide adapted = a->trust * weights / (gradient + a->weight_decay * weights + a->epsilon);
    const wide ratio = weights == 0 || gradient == 0 ? 1 : adapted;
    for (int64_t i = 0; !state->skip && i < count; i++) {
        const wide velocity = a->momentum * (wide)v[i] + ratio * ((wide)g[i] + a->weight_decay * (wide)p[i]);
        v[i] = (real)velocity;
        p[i] = (real)((wide)p[i] - state->lr * velocity);
    }
}

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

void GR_REF(sam_climb_forward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    const wide factor = args->factor / ((wide)reals(call->in[2])[0] + 1e-12);
    real *p = reals(call->in[0]), *saved = reals(call->in[3]); /* [count] */
    const real *g = reals(call->in[1]);                        /* [count] */
    for (int64_t i = 0; i < call->in[0]->count; i++) {
        saved[i] = p[i];
        p[i] = (real)((wide)p[i] + factor * (wide)g[i]);
    }
}

void GR_REF(sam_return_forward)(const gr_call *call)
{
    real *p = reals(call->in[0]);           /* [count] */
    const real *saved = reals(call->in[1]); /* [count] */
    for (int64_t i = 0; i < call->in[0]->count; i++)
        p[i] = saved[i];
}

void GR_REF(ema_step_forward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    const gr_step_state *state = call->exec->state;
    const wide t = (wide)state->update - state->skipped, share = 1 - fmin(args->factor, (t - 1) / (t + 8));
    real *average = reals(call->in[0]); /* [count] */
    const real *p = reals(call->in[1]); /* [count] */
    for (int64_t i = 0; !state->skip && i < call->in[0]->count; i++)
        average[i] = (real)((wide)average[i] + share * ((wide)p[i] - (wide)average[i]));
}

void GR_REF(lookahead_step_forward)(const gr_call *call)
{
    const wide share = 1 - ((const gr_factor_args *)call->options)->factor;
    real *slow = reals(call->in[0]); /* [count] */
    real *p = reals(call->in[1]);    /* [count] */
    for (int64_t i = 0; i < call->in[0]->count; i++)
        p[i] = slow[i] = (real)((wide)slow[i] + share * ((wide)p[i] - (wide)slow[i]));
}

void GR_REF(nesterov_step_forward)(const gr_call *call)
{
    const wide mu = ((const gr_factor_args *)call->options)->factor;
    real *v = reals(call->in[0]), *d = reals(call->out[0]); /* [count] */
    const real *g = reals(call->in[1]);                     /* [count] */
    for (int64_t i = 0; i < call->in[0]->count; i++) {
        const wide velocity = mu * (wide)v[i] + (wide)g[i];
        d[i] = (real)((wide)g[i] + mu * velocity);
        if (!call->exec->state->skip)
            v[i] = (real)velocity;
    }
}

void GR_REF(unit_norm_forward)(const gr_call *call)
{
    const wide factor = ((const gr_factor_args *)call->options)->factor / ((wide)reals(call->in[1])[0] + 1e-7);
    real *x = reals(call->in[0]); /* [count] */
    for (int64_t i = 0; !call->exec->state->skip && i < call->in[0]->count; i++)
        x[i] = (real)(factor * (wide)x[i]);
}

void GR_REF(clip_norm_forward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    const wide share = args->factor / ((wide)reals(call->in[1])[0] + 1e-6);
    const wide factor = share > 1 ? 1 : share;
    real *g = reals(call->in[0]); /* [count] */
    for (int64_t i = 0; i < call->in[0]->count; i++)
        g[i] = (real)(factor * (wide)g[i]);
}
