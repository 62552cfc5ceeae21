/*
 * sharpness.c - how steeply the loss can rise near the weights (Keskar, Mudigere, Nocedal, Smelyanskiy, Tang 2017,
 * metric 2.1 over the whole space). They maximise by ten iterations of L-BFGS-B. Here it is Frank and Wolfe's method
 * with its usual step 2/(k+2): the best corner of the box for the loss's tangent costs no line search, and no step
 * leaves the box.
 */
#include <math.h>
#include <stdlib.h>

#include "core/zero.h"
#include "nn/module.h"
#include "optim/optimizer.h"
#include "optim/training/loss.h"

typedef struct {
    gr_context *ctx;
    gr_module *net;
    gr_slab *slab;
    gr_loader *loader;
    const gr_sharpness_options *options;
    double epsilon;
    int64_t count;           /* elements of the slab */
    double *centre, *offset; /* [count]: the weights, and how far from them the loss is looked at */
    double *gradient;        /* [count] */
    void *raw;               /* [count] in the device's type */
} probe;

static double *real_at(const probe *p, double *to)
{
    for (int64_t i = 0; i < p->count; i++)
        to[i] = p->slab->values->type == GR_F64 ? ((double *)p->raw)[i] : (double)((float *)p->raw)[i];
    return to;
}

/* Puts the weights at centre + offset. */
static bool set_weights(const probe *p)
{
    for (int64_t i = 0; i < p->count; i++) {
        const double w = p->centre[i] + p->offset[i];
        if (p->slab->values->type == GR_F64)
            ((double *)p->raw)[i] = w;
        else
            ((float *)p->raw)[i] = (float)w;
    }
    return gr_upload(p->slab->values, p->raw);
}

/* Brings the gradient over to the places of the weights. */
static bool read_gradient(const probe *p)
{
    if (!gr_download(p->slab->gradients, p->raw))
        return false;
    for (int i = 0; i < p->slab->n; i++) {
        const gr_segment *s = &p->slab->segments[i];
        for (int64_t j = 0; !s->frozen && j < s->count; j++) {
            const int64_t from = s->grad_offset + j; /* a frozen segment has none: its gradient stays 0 */
            p->gradient[s->offset + j] =
                p->slab->values->type == GR_F64 ? ((double *)p->raw)[from] : (double)((float *)p->raw)[from];
        }
    }
    return true;
}

/* Loss over the whole set where the weights are now, and its gradient. NAN: recorded. */
static double loss_and_gradient(const probe *p)
{
    double loss = 0;
    gr_batch piece = {0};
    gr__slab_clear_gradients(p->slab);
    while (gr_ok(p->ctx) && gr_loader_next(p->loader, &piece)) {
        const gr_loss_rule rule = {p->options->loss, p->options->user, p->options->label_smoothing};
        gr_tensor *l = gr__piece_loss(p->net, gr_forward(p->net, piece.x), &piece, &rule);
        loss += gr_item(l);
        gr_backward(l);
        gr_step_end(p->ctx);
    }
    return gr_ok(p->ctx) && read_gradient(p) ? loss : NAN;
}

/* Step k: towards the corner of the box where the tangent is highest. */
static void frank_wolfe_step(const probe *p, int k)
{
    const double share = 2 / (double)(k + 2);
    for (int64_t i = 0; i < p->count; i++) {
        const double g = p->gradient[i], reach = p->epsilon * (fabs(p->centre[i]) + 1);
        const double corner = g > 0 ? reach : g < 0 ? -reach : 0;
        p->offset[i] += share * (corner - p->offset[i]);
    }
}

static gr_sharpness maximise(const probe *p, int steps)
{
    gr_sharpness s = {.loss = loss_and_gradient(p)};
    s.worst = s.loss;
    for (int k = 0; k < steps && gr_ok(p->ctx); k++) {
        frank_wolfe_step(p, k);
        if (set_weights(p))
            s.worst = fmax(s.worst, loss_and_gradient(p));
    }
    s.sharpness = 100 * (s.worst - s.loss) / (1 + s.loss);
    return s;
}

static bool open_probe(probe *p, gr_dataset *set, int64_t batch)
{
    const size_t n = (size_t)p->count;
    p->centre = gr__calloc(p->ctx, n, sizeof *p->centre);
    p->offset = gr__calloc(p->ctx, n, sizeof *p->offset);
    p->gradient = gr__calloc(p->ctx, n, sizeof *p->gradient);
    p->raw = gr__calloc(p->ctx, n, sizeof(double));
    p->loader = gr_loader_open(
        set, &(gr_loader_options){.batch = gr_dataset_size(set), .micro_batch = batch, .order = GR_IN_ORDER});
    if (!gr_ok(p->ctx) || !gr_download(p->slab->values, p->raw))
        return false;
    real_at(p, p->centre);
    return true;
}

static void close_probe(probe *p)
{
    gr_loader_close(p->loader);
    free(p->centre);
    free(p->offset);
    free(p->gradient);
    free(p->raw);
}

/* Everything is put back: weights, statistics, gradients and what dropout will draw next. */
static gr_sharpness measure(probe *p, int steps)
{
    gr_parameters *statistics = p->net->parameters->statistics;
    const bool recorded = gr_record(p->ctx, true), frozen = statistics->frozen;
    const int64_t draws = p->ctx->state.draws;
    statistics->frozen = true;
    gr_sharpness s = maximise(p, steps);
    for (int64_t i = 0; i < p->count; i++)
        p->offset[i] = 0;
    set_weights(p);
    statistics->frozen = frozen;
    gr__slab_clear_gradients(p->slab);
    gr_record(p->ctx, recorded);
    p->ctx->state.draws = draws;
    gr_set_update_weight(p->ctx, 0);
    return s;
}

gr_sharpness gr_measure_sharpness(gr_module *net, gr_dataset *set, const gr_sharpness_options *options)
{
    const gr_sharpness_options o = options ? *options : (gr_sharpness_options){0};
    const gr_sharpness none = {NAN, NAN, NAN};
    if (!net || !set || !gr_ok(net->ctx))
        return none;
    if (gr_parameter_count(net) == 0 || !(o.epsilon >= 0 && isfinite(o.epsilon)) || o.steps < 0 || o.batch < 0) {
        gr__fail(net->ctx, GR_USAGE,
                 "gr_measure_sharpness: %d parameters, epsilon %g, %d steps, batches of %lld; the model must be "
                 "built, and nothing below 0",
                 gr_parameter_count(net), o.epsilon, o.steps, (long long)o.batch);
        return none;
    }
    probe p = {.ctx = net->ctx,
               .net = net,
               .options = &o,
               .slab = net->parameters->slab,
               .epsilon = gr__or(o.epsilon, 1e-3),
               .count = net->parameters->slab->values->count};
    gr_sharpness s = open_probe(&p, set, o.batch > 0 ? o.batch : 64) ? measure(&p, o.steps > 0 ? o.steps : 10) : none;
    close_probe(&p);
    return gr_ok(net->ctx) ? s : none;
}
