/*
 * ema.c - averages of a model's weights over its updates (kernels/ops/updates.h: gr_ema_step), and of its running
 * statistics with the same decay: slabs beside theirs, and an exchange of the two for whoever evaluates or saves.
 */
#include "optim/ema.h"

#include <stdlib.h>

#include "nn/module.h"

bool gr_set_ema(gr_optimizer *opt, double decay)
{
    if (!opt || !gr_ok(opt->ctx))
        return false;
    if (!(decay >= 0 && decay < 1))
        return gr__fail(opt->ctx, GR_USAGE, "gr_set_ema: a decay of %g; it lies between 0 and 1, and 0 is for none",
                        decay);
    if (opt->updates > 0)
        return gr__fail(opt->ctx, GR_USAGE, "gr_set_ema: after an update; averages begin with the first one");
    opt->ema = decay;
    return true;
}

gr_tensor *gr__averaged_slab(const gr_optimizer *opt, int i)
{
    const gr_parameters *of = i == 0 ? opt->net->parameters : opt->net->parameters->statistics;
    return of->n > 0 ? of->slab->values : NULL;
}

bool gr__averages_make(const gr_optimizer *opt, gr_tensor *averages[GR__AVERAGES])
{
    for (int i = 0; i < GR__AVERAGES; i++) {
        const gr_tensor *source = gr__averaged_slab(opt, i);
        if (source && !averages[i])
            averages[i] = gr__tensor_persistent(opt->ctx, source->type, 1, &source->count);
    }
    return gr_ok(opt->ctx);
}

bool gr__ema_prepare(gr_optimizer *opt)
{
    return opt->ema == 0 || gr__averages_make(opt, opt->average);
}

bool gr__ema_update(gr_optimizer *opt)
{
    bool good = true;
    for (int i = 0; good && i < GR__AVERAGES; i++)
        good = !opt->average[i] || gr_ema_step(opt->average[i], gr__averaged_slab(opt, i), opt->ema);
    return good;
}

/* Through the host: it is done once an epoch, and costs the device no memory. */
static bool exchange(gr_tensor *a, gr_tensor *b)
{
    const size_t bytes = (size_t)a->count * gr_type_size(a->type);
    char *host = gr__calloc(a->ctx, 2, bytes);
    const bool good = host && gr_download(a, host) && gr_download(b, host + bytes) && gr_upload(a, host + bytes) &&
                      gr_upload(b, host);
    free(host);
    return good;
}

bool gr_ema_swap(gr_optimizer *opt)
{
    if (!opt || !gr_ok(opt->ctx))
        return false;
    if (opt->ema == 0)
        return gr__fail(opt->ctx, GR_USAGE, "gr_ema_swap: this optimizer keeps no averages; gr_set_ema asks for them");
    if (opt->pass > 0)
        return gr__fail(opt->ctx, GR_USAGE, "gr_ema_swap: in the middle of an update; finish its passes first");
    bool good = true;
    for (int i = 0; good && opt->updates > 0 && i < GR__AVERAGES; i++)
        good = !opt->average[i] || exchange(gr__averaged_slab(opt, i), opt->average[i]);
    opt->averaged = !opt->averaged;
    return good;
}

bool gr__ema_check(const gr_optimizer *opt, const char *what)
{
    return !opt->averaged || gr__fail(opt->ctx, GR_USAGE,
                                      "%s: the model holds the averages of its weights; gr_ema_swap brings the weights "
                                      "themselves back",
                                      what);
}
