/*
 * updates.c - fronts of the optimizers' steps, element by element over slabs of the same count, changed in place.
 * The learning rate lr and the number of applied updates t come from the step state.
 */
#include <math.h>

#include "core/zero.h"
#include "kernels/ops/kernels.h"

/* Stochastic gradient descent: p -= lr (g + decay p). */
bool gr_sgd_step(gr_tensor *p, gr_tensor *g, const gr_sgd_args *args)
{
    gr_build call;
    return gr__begin(&call, sgd_step, args, p, g) && gr__check_decay(&call, args ? args->weight_decay : 0) &&
           gr__check_same_count(&call, 1, "g") && gr__op_run(&call);
}

/* SGD with momentum (Sutskever, Martens, Dahl, Hinton 2013, with PyTorch's place for lr), v the velocity. */
static bool check_momentum(gr_build *b)
{
    const gr_momentum_args *a = gr__op_args(b);
    if (a->momentum > 0 && a->momentum < 1)
        return gr__check_decay(b, a->weight_decay);
    return gr__op_fail(b, "momentum %g; it lies between 0 and 1 (without momentum there is gr_sgd_step)", a->momentum);
}

bool gr_momentum_step(gr_tensor *p, gr_tensor *g, gr_tensor *v, const gr_momentum_args *args)
{
    gr_build call;
    return gr__begin(&call, momentum_step, args, p, g, v) && check_momentum(&call) &&
           gr__check_same_count(&call, 1, "g") && gr__check_same_count(&call, 2, "v") && gr__op_run(&call);
}

/*
 * Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015, algorithm 1), m and v the moments of
 * first and second order.
 */
bool gr__adam_resolve(gr_build *b)
{
    gr_adam_args *a = gr__op_args(b);
    a->beta1 = gr__or(a->beta1, 0.9);
    a->beta2 = gr__or(a->beta2, 0.999);
    a->epsilon = gr__or(a->epsilon, a->form == GR_ADAM_PYTORCH ? 1e-8 : 1e-7);
    if ((unsigned)a->form > GR_ADAM_PYTORCH)
        return gr__op_fail(b, "form %d; there are GR_ADAM_KERAS and GR_ADAM_PYTORCH", (int)a->form);
    if (!gr__check_decay(b, a->weight_decay))
        return false;
    if (a->beta1 >= 0 && a->beta1 < 1 && a->beta2 >= 0 && a->beta2 < 1 && a->epsilon > 0 && isfinite(a->epsilon))
        return true;
    return gr__op_fail(b, "beta1 %g, beta2 %g, epsilon %g; betas lie in [0, 1), epsilon is positive", a->beta1,
                       a->beta2, a->epsilon);
}

bool gr_adam_step(gr_tensor *p, gr_tensor *g, gr_tensor *m, gr_tensor *v, const gr_adam_args *args)
{
    gr_build call;
    return gr__begin(&call, adam_step, args, p, g, m, v) && gr__adam_resolve(&call) &&
           gr__check_same_count(&call, 1, "g") && gr__check_same_count(&call, 2, "m") &&
           gr__check_same_count(&call, 3, "v") && gr__op_run(&call);
}

/*
 * LARS (You, Gitman, Ginsburg, "Large batch training of convolutional networks", 2017): one layer's weights p, their
 * gradient g and the velocity v.
 *
 * The paper keeps lr inside v. Here, as in PyTorch's momentum, it stands outside: the same while lr is constant.
 */
static bool resolve_lars(gr_build *b)
{
    gr_lars_args *a = gr__op_args(b);
    a->trust = gr__or(a->trust, 0.001);
    a->epsilon = gr__or(a->epsilon, 1e-9);
    if (!(a->momentum >= 0 && a->momentum < 1))
        return gr__op_fail(b, "momentum %g; it lies in [0, 1)", a->momentum);
    if (!(a->trust > 0 && isfinite(a->trust) && a->epsilon > 0 && isfinite(a->epsilon)))
        return gr__op_fail(b, "trust %g, epsilon %g; both are positive numbers", a->trust, a->epsilon);
    return gr__check_decay(b, a->weight_decay);
}

bool gr_lars_step(gr_tensor *p, gr_tensor *g, gr_tensor *v, const gr_lars_args *args)
{
    gr_build call;
    return gr__begin(&call, lars_step, args, p, g, v) && resolve_lars(&call) && gr__check_same_count(&call, 1, "g") &&
           gr__check_same_count(&call, 2, "v") && gr__op_run(&call);
}

/*
 * A step on the conservative objective of a mini-batch (Li, Zhang, Chen, Smola, "Efficient mini-batch training for
 * stochastic optimization", KDD 2014, section 3).
 */
bool gr_prox_step(gr_tensor *p, gr_tensor *g, gr_tensor *anchor, const gr_prox_args *args)
{
    gr_build call;
    if (!gr__begin(&call, prox_step, args, p, g, anchor))
        return false;
    const double gamma = ((gr_prox_args *)gr__op_args(&call))->gamma;
    if (!(gamma >= 0 && isfinite(gamma)))
        return gr__op_fail(&call, "gamma %g; it must be 0 or a positive number", gamma);
    return gr__check_same_count(&call, 1, "g") && gr__check_same_count(&call, 2, "anchor") && gr__op_run(&call);
}

/*
 * Gradient clipping (Pascanu, Mikolov, Bengio 2013): g of any shape, changed in place; norm, a scalar, is that of all
 * gradients together, of which g may be a part.
 */
bool gr_clip_norm(gr_tensor *g, gr_tensor *norm, double limit)
{
    gr_build call;
    if (!gr__begin(&call, clip_norm, &(gr_factor_args){limit}, g, norm))
        return false;
    if (!(limit > 0 && isfinite(limit)))
        return gr__op_fail(&call, "a limit of %g; it must be a positive number", limit);
    return gr__check_scalar(&call, 1, "norm") && gr__op_run(&call);
}

/*
 * The direction of SGD with Nesterov's momentum, in the form of gr_momentum_step, for who makes something else of it
 * before the step.
 */
gr_tensor *gr_nesterov_step(gr_tensor *v, gr_tensor *g, double momentum)
{
    gr_build call;
    if (!gr__begin(&call, nesterov_step, &(gr_factor_args){momentum}, v, g))
        return NULL;
    if (!(momentum >= 0 && momentum < 1))
        return gr__op_fail(&call, "momentum %g; it lies in [0, 1)", momentum);
    if (!gr__check_same_count(&call, 1, "g") || !gr__op_output(&call, 0, g->ndim, g->shape))
        return NULL;
    return gr__op_run(&call);
}

bool gr_unit_norm(gr_tensor *x, gr_tensor *norm, double length)
{
    gr_build call;
    if (!gr__begin(&call, unit_norm, &(gr_factor_args){length}, x, norm))
        return false;
    if (!(length > 0 && isfinite(length)))
        return gr__op_fail(&call, "a length of %g; it must be a positive number", length);
    return gr__check_scalar(&call, 1, "norm") && gr__op_run(&call);
}

/*
 * The first half of sharpness-aware minimisation (Foret, Kleiner, Mobahi, Neyshabur 2021, equation 2 with p = 2):
 * norm, a scalar, is that of all gradients together.
 */
bool gr_sam_climb(gr_tensor *p, gr_tensor *g, gr_tensor *norm, gr_tensor *saved, double rho)
{
    gr_build call;
    if (!gr__begin(&call, sam_climb, &(gr_factor_args){rho}, p, g, norm, saved))
        return false;
    if (!(rho > 0 && isfinite(rho)))
        return gr__op_fail(&call, "rho %g; it must be a positive number", rho);
    return gr__check_same_count(&call, 1, "g") && gr__check_scalar(&call, 2, "norm") &&
           gr__check_same_count(&call, 3, "saved") && gr__op_run(&call);
}

/* The way back from gr_sam_climb. An update that is skipped returns too. */
bool gr_sam_return(gr_tensor *p, gr_tensor *saved)
{
    gr_build call;
    return gr__begin(&call, sam_return, NULL, p, saved) && gr__check_same_count(&call, 1, "saved") && gr__op_run(&call);
}

/*
 * The average of weights (Polyak, Juditsky, "Acceleration of stochastic approximation by averaging", 1992), an
 * exponential one (Tarvainen, Valpola, "Mean teachers are better role models", 2017, equation 1, with a decay that
 * grows).
 */
bool gr_ema_step(gr_tensor *average, gr_tensor *p, double decay)
{
    gr_build call;
    if (!gr__begin(&call, ema_step, &(gr_factor_args){decay}, average, p))
        return false;
    if (!(decay > 0 && decay < 1))
        return gr__op_fail(&call, "decay %g; it lies between 0 and 1", decay);
    return gr__check_same_count(&call, 1, "p") && gr__op_run(&call);
}

/* Zhang, Lucas, Hinton, Ba, "Lookahead optimizer: k steps forward, 1 step back", 2019. */
bool gr_lookahead_step(gr_tensor *slow, gr_tensor *p, double decay)
{
    gr_build call;
    if (!gr__begin(&call, lookahead_step, &(gr_factor_args){decay}, slow, p))
        return false;
    if (!(decay >= 0 && decay <= 1))
        return gr__op_fail(&call, "decay %g; it lies between 0 and 1", decay);
    return gr__check_same_count(&call, 1, "p") && gr__op_run(&call);
}
