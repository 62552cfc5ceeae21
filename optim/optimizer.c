/* optimizer.c - making an optimizer, and its settings. */
#include "optim/optimizer.h"

#include <math.h>
#include <stdlib.h>

#include "nn/module.h"

static void destroy(void *object)
{
    gr_optimizer *opt = object;
    free(opt->fused);
    free(opt->lr_scale);
    free(opt->decay_scale);
    free(opt->later);
    free(opt);
}

static bool check_lr(gr_context *ctx, double lr)
{
    return (isfinite(lr) && lr > 0) ||
           gr__fail(ctx, GR_USAGE, "a learning rate of %g; it must be a positive number", lr);
}

static bool check_net(gr_context *ctx, const gr_module *net)
{
    if (!net)
        return gr__fail(ctx, GR_USAGE, "an optimizer wants a model; this one is NULL");
    return net->ctx == ctx || gr__fail(ctx, GR_USAGE, "an optimizer belongs to its model's context; this is another");
}

gr_optimizer *gr__optimizer_new(gr_context *ctx, gr_module *net, const gr_optimizer_class *class, double lr)
{
    if (!gr_ok(ctx) || !check_net(ctx, net) || !check_lr(ctx, lr))
        return NULL;
    gr_optimizer *opt = gr__calloc(ctx, 1, sizeof *opt);
    if (!opt)
        return NULL;
    *opt = (gr_optimizer){.ctx = ctx, .net = net, .class = class, .lr = lr, .inner = 1};
    return gr__own(ctx, opt, destroy) ? opt : NULL;
}

bool gr_set_lr(gr_optimizer *opt, double lr)
{
    if (!opt || !gr_ok(opt->ctx) || !check_lr(opt->ctx, lr))
        return false;
    opt->lr = lr;
    return true;
}

double gr__lr_scale(const gr_optimizer *opt, int i)
{
    if (opt->later_begun && opt->later[i])
        return 0;
    return opt->lr_scale ? opt->lr_scale[i] : 1;
}

double gr__decay_scale(const gr_optimizer *opt, int i)
{
    return opt->decay_scale ? opt->decay_scale[i] : 1;
}

/* One for each parameter, all 1, unless they are there. False: recorded. */
static bool make_scales(gr_optimizer *opt, double **scales)
{
    const int n = gr_parameter_count(opt->net);
    if (*scales)
        return true;
    *scales = gr__calloc(opt->ctx, (size_t)n + 1, sizeof **scales);
    for (int i = 0; *scales && i < n; i++)
        (*scales)[i] = 1;
    return *scales;
}

/* The scale of those that patterns match, in the name of what. False: recorded. */
static bool set_scale(gr_optimizer *opt, const char *what, double **scales, const char *patterns, double scale)
{
    const int n = gr_parameter_count(opt->net);
    bool *marks = gr__calloc(opt->ctx, (size_t)n + 1, sizeof *marks);
    const bool good = marks && gr__mark_parameters(opt->net, what, patterns, marks) && make_scales(opt, scales);
    for (int i = 0; good && i < n; i++)
        if (marks[i])
            (*scales)[i] = scale;
    free(marks);
    return good;
}

bool gr_set_lr_scale(gr_optimizer *opt, const char *patterns, double scale)
{
    if (!opt || !gr_ok(opt->ctx))
        return false;
    if (!(scale > 0 && isfinite(scale)) || opt->updates > 0)
        return gr__fail(opt->ctx, GR_USAGE, "gr_set_lr_scale: %g; it is a positive number, set before the first update",
                        scale);
    return set_scale(opt, "gr_set_lr_scale", &opt->lr_scale, patterns, scale);
}

bool gr_set_decay_scale(gr_optimizer *opt, const char *patterns, double scale)
{
    if (!opt || !gr_ok(opt->ctx))
        return false;
    if (!(scale >= 0 && isfinite(scale)) || opt->updates > 0)
        return gr__fail(opt->ctx, GR_USAGE,
                        "gr_set_decay_scale: %g; it is a number of at least 0, set before the first update", scale);
    return set_scale(opt, "gr_set_decay_scale", &opt->decay_scale, patterns, scale);
}

bool gr__freeze_later(gr_optimizer *opt, const char *patterns)
{
    free(opt->later);
    opt->later = NULL;
    opt->later_begun = false;
    if (!patterns)
        return true;
    opt->later = gr__calloc(opt->ctx, (size_t)gr_parameter_count(opt->net) + 1, sizeof *opt->later);
    return opt->later && gr__mark_parameters(opt->net, "gr_fit: freeze_later", patterns, opt->later);
}

bool gr_set_decay_weights_only(gr_optimizer *opt, bool on)
{
    if (!opt || !gr_ok(opt->ctx))
        return false;
    opt->decay_weights_only = on;
    return true;
}

bool gr_set_clip(gr_optimizer *opt, double norm)
{
    if (!opt || !gr_ok(opt->ctx))
        return false;
    if (!(norm >= 0 && isfinite(norm)))
        return gr__fail(opt->ctx, GR_USAGE, "gr_set_clip: a norm of %g; it must be a positive number, or 0 for none",
                        norm);
    opt->clip = norm;
    return true;
}

bool gr_set_sam(gr_optimizer *opt, double rho)
{
    if (!opt || !gr_ok(opt->ctx))
        return false;
    if (!(rho >= 0 && isfinite(rho)))
        return gr__fail(opt->ctx, GR_USAGE, "gr_set_sam: rho %g; it must be a positive number, or 0 for none", rho);
    if (rho > 0 && opt->inner > 1)
        return gr__fail(opt->ctx, GR_USAGE,
                        "gr_set_sam: gr_prox makes several passes itself; put SAM around another optimizer");
    if (opt->pass > 0)
        return gr__fail(opt->ctx, GR_USAGE, "gr_set_sam: in the middle of an update; finish its second pass first");
    opt->rho = rho;
    return true;
}
