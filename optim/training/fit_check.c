/* fit_check.c - see fit_check.h. */
#include "optim/training/fit_check.h"

#include <math.h>

#include "core/group/power.h"
#include "nn/module.h"
#include "optim/optimizer.h"

static bool check_numbers(gr_context *ctx, const gr_fit_options *o)
{
    if (o->batch < 1 && o->n_stages == 0)
        return gr__fail(ctx, GR_USAGE, "gr_fit: a batch of %lld; it must be at least 1", (long long)o->batch);
    if (!(o->sharpness >= 0 && isfinite(o->sharpness)))
        return gr__fail(ctx, GR_USAGE, "gr_fit: sharpness with epsilon %g; it is positive, or 0 for none",
                        o->sharpness);
    if (!(o->label_smoothing >= 0 && o->label_smoothing < 1) || (o->label_smoothing > 0 && o->loss))
        return gr__fail(ctx, GR_USAGE, "gr_fit: label_smoothing %g%s; it lies in [0, 1) and is for gr_loss",
                        o->label_smoothing, o->loss ? " of a loss of the program's own" : "");
    if ((o->freeze_later != NULL) != (o->freeze_epochs > 0) || o->freeze_epochs < 0)
        return gr__fail(ctx, GR_USAGE, "gr_fit: freeze_later \"%s\" behind %lld epochs; names and a positive number",
                        o->freeze_later ? o->freeze_later : "", (long long)o->freeze_epochs);
    const gr_schedule *s = &o->schedule;
    if ((unsigned)s->kind > GR_TRIANGULAR || s->every < 0 || !(s->gamma >= 0) || !(s->lr_min >= 0) || isinf(s->gamma) ||
        !(s->warm_up >= 0 && s->warm_up < 1e9) || !(s->warm_up_from >= 0 && s->warm_up_from <= 1))
        return gr__fail(
            ctx, GR_USAGE,
            "gr_fit: schedule %d, lr_min %g, every %lld, gamma %g, warm_up %g, warm_up_from %g; all are at least "
            "0, the last at most 1",
            (int)s->kind, s->lr_min, (long long)s->every, s->gamma, s->warm_up, s->warm_up_from);
    return gr_ok(ctx);
}

/* Synchronised batch normalisation: every shard is a rank's, and in one piece. */
static bool check_synchronised(gr_context *ctx, const gr_fit_options *o, int shards, int ranks)
{
    if (ranks != shards)
        return gr__fail(ctx, GR_USAGE,
                        "gr_fit: %d rank%s with %d shards whose batch normalisation is synchronised; all pass through "
                        "the model at once, each in a rank of its own",
                        ranks, ranks == 1 ? "" : "s", shards);
    for (int i = 0; o->micro_batch > 0 && i < (o->n_stages ? o->n_stages : 1); i++) {
        const int64_t batch = o->n_stages ? o->stages[i].batch : o->batch;
        const int64_t largest = batch / shards + (batch % shards > 0);
        if (o->micro_batch < largest)
            return gr__fail(ctx, GR_USAGE,
                            "gr_fit: micro-batches of %lld samples with synchronised batch normalisation, whose shards "
                            "of %lld samples pass undivided; take more shards",
                            (long long)o->micro_batch, (long long)largest);
    }
    return true;
}

static bool check_shards(gr_context *ctx, const gr_fit_options *o)
{
    if (o->shards > GR_MAX_SHARDS || (o->shards != 0 && !gr__is_power_of_two(o->shards)))
        return gr__fail(ctx, GR_USAGE, "gr_fit: %d shards; their number is a power of two, at most %d", o->shards,
                        GR_MAX_SHARDS);
    const int shards = o->shards ? o->shards : 1, ranks = gr_group_size(o->group);
    if (ranks > shards)
        return gr__fail(ctx, GR_USAGE, "gr_fit: %d ranks with %d shard%s; every rank has at least one", ranks, shards,
                        shards == 1 ? "" : "s");
    if (o->synchronised && !check_synchronised(ctx, o, shards, ranks))
        return false;
    return shards == 1 || !o->noise_scale ||
           gr__fail(ctx, GR_USAGE,
                    "gr_fit: the noise scale compares a piece with its batch, which shards do not add up in one "
                    "place; measure it with one shard");
}

/* When it stops. */
static bool check_end(gr_context *ctx, const gr_fit_options *o)
{
    const double longest = 1e9; /* seconds: 32 years */
    if (o->epochs < 0 || o->updates < 0 || o->samples < 0 || !(o->seconds >= 0 && o->seconds <= longest) ||
        (o->epochs == 0 && o->updates == 0 && o->samples == 0 && o->seconds == 0))
        return gr__fail(
            ctx, GR_USAGE,
            "gr_fit: %lld epochs, %lld updates, %lld samples, %g seconds; one of them must be positive, none negative",
            (long long)o->epochs, (long long)o->updates, (long long)o->samples, o->seconds);
    const gr_schedule_kind kind = o->schedule.kind;
    return o->seconds == 0 || (kind != GR_COSINE && kind != GR_LINEAR) ||
           gr__fail(ctx, GR_USAGE,
                    "gr_fit: a run of %g seconds; nobody knows how many updates that is, which a schedule down to its "
                    "end has to: take another schedule, or samples",
                    o->seconds);
}

static bool check_stages(gr_context *ctx, const gr_fit_options *o)
{
    const bool to_the_end = o->schedule.kind == GR_COSINE || o->schedule.kind == GR_LINEAR;
    const bool by_epochs = o->epochs > 0 && o->updates == 0, by_updates = o->updates > 0 && !to_the_end;
    bool good = o->n_stages == 0 ||
                ((by_epochs || by_updates) && o->samples == 0 && o->seconds == 0 && o->stages[0].epoch == 0);
    for (int i = 0; i < o->n_stages; i++)
        good = good && o->stages[i].batch >= 1 && (i == 0 || o->stages[i].epoch > o->stages[i - 1].epoch);
    return good || gr__fail(ctx, GR_USAGE,
                            "gr_fit: stages have batches of at least 1, begin at epoch 0, each later than the one "
                            "before, and the run ends by epochs (or by updates, where the schedule does not go down "
                            "to its end)");
}

bool gr__fit_check(const gr_module *net, const gr_optimizer *opt, const gr_split *split, const gr_fit_options *options)
{
    gr_context *ctx = net ? net->ctx : NULL;
    if (!gr_ok(ctx))
        return false;
    if (!opt || !split->train || !options)
        return gr__fail(ctx, GR_USAGE, "gr_fit: %s is NULL",
                        !opt            ? "the optimizer"
                        : !split->train ? "the part to train on"
                                        : "what options points to");
    if (opt->net != net)
        return gr__fail(ctx, GR_USAGE, "gr_fit: the optimizer is another model's");
    return check_numbers(ctx, options) && check_end(ctx, options) && check_stages(ctx, options) &&
           check_shards(ctx, options);
}

bool gr__fit_check_noise(const gr_module *net, const gr_loader *loader)
{
    for (int i = 0; i < gr_parameter_count(net); i++)
        if (net->parameters->plans[i].l2 > 0)
            return gr__fail(
                net->ctx, GR_USAGE,
                "gr_fit: the gradient of the penalty on %s is no mean over samples; the noise scale cannot be "
                "measured with it",
                gr_parameter_name(net, i));
    if (net->ctx->scaler)
        return gr__fail(
            net->ctx, GR_USAGE,
            "gr_fit: the noise scale compares gradients before and after the loss scale of fp16 is taken out; "
            "measure it in bf16 or fp32");
    if (gr_loader_batch(loader) == 1)
        return gr__fail(net->ctx, GR_USAGE,
                        "gr_fit: the noise scale compares pieces of a batch with all of it, and one sample has no "
                        "pieces; ask for batches of 2 or more");
    return gr_loader_micro_batch(loader) < gr_loader_batch(loader) ||
           gr__fail(net->ctx, GR_USAGE,
                    "gr_fit: the noise scale compares a micro-batch with its batch; give a micro_batch below %lld",
                    (long long)gr_loader_batch(loader));
}
