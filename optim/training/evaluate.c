/* evaluate.c - a pass over a set without a tape. */
#include "optim/training/evaluate.h"

#include <math.h>

#include "nn/module.h"

bool gr__evaluator_open(gr_evaluator *e, gr_module *net, gr_dataset *set, const gr_loader_options *options)
{
    gr_loader_options cut = *options;
    cut.order = GR_IN_ORDER;
    cut.batch = cut.batch < gr_dataset_size(set) ? cut.batch : gr_dataset_size(set);
    *e = (gr_evaluator){.net = net};
    if (set)
        e->loader = gr_loader_open(set, &cut);
    return gr_ok(net->ctx);
}

void gr__evaluator_close(gr_evaluator *e)
{
    if (e->net)
        gr__score_close(e->net->ctx, &e->score);
    gr_loader_close(e->loader);
    *e = (gr_evaluator){0};
}

/* One batch into the sums. False: recorded. */
static bool add_batch(gr_evaluator *e, const gr_batch *batch)
{
    gr_tensor *z = gr_forward(e->net, batch->x), *counts = gr_confusion(z, batch->y, batch->weight);
    if (counts && !e->score.total) {
        e->classes = (int)gr_dim(counts, 0);
        gr__score_open(e->net->ctx, &e->score, gr_count(counts));
    }
    return gr_tally(e->score.total, gr__piece_loss(e->net, z, batch, &e->loss), counts, NULL);
}

static bool plan_batch(gr_evaluator *e, int64_t n)
{
    gr_batch batch;
    gr_plan_begin(e->net->ctx);
    if (gr_loader_dry(e->loader, n, &batch))
        add_batch(e, &batch);
    return gr_plan_end(e->net->ctx) >= 0;
}

bool gr__evaluator_plan(gr_evaluator *e)
{
    if (!e->loader)
        return gr_ok(e->net->ctx);
    bool recorded = gr_record(e->net->ctx, false);
    bool fits = plan_batch(e, gr_loader_batch(e->loader));
    gr_record(e->net->ctx, recorded);
    return fits;
}

/* All batches of the set into the sums; samples that were seen. */
static int64_t pass(gr_evaluator *e)
{
    gr_context *ctx = e->net->ctx;
    int64_t samples = 0;
    bool recorded = gr_record(ctx, false);
    if (e->score.total)
        gr__score_clear(&e->score);
    e->stopped = false;
    for (gr_batch batch;; samples += batch.samples) {
        e->stopped = e->stop && e->stop(e->user);
        if (e->stopped || !gr_loader_next(e->loader, &batch))
            break;
        add_batch(e, &batch);
        gr_step_end(ctx);
    }
    gr_record(ctx, recorded);
    gr_set_update_weight(ctx, 0); /* the loader's weight is not for whoever trains next */
    return samples;
}

gr_metrics gr__evaluator_run(gr_evaluator *e)
{
    gr_metrics m = {.samples = e->loader ? pass(e) : 0};
    if (m.samples == 0 || e->stopped || !gr_ok(e->net->ctx) || !gr__score_read(&e->score))
        return (gr_metrics){NAN, NAN, NAN, NAN, NAN, .samples = e->stopped ? 0 : m.samples};
    m.loss = e->score.sums[0] / (double)m.samples;
    m.classes = e->classes;
    m.confusion = e->score.sums + 1;
    gr__confusion_metrics(m.confusion, m.classes, &m);
    return m;
}

gr_metrics gr_evaluate(gr_module *net, gr_dataset *set)
{
    return gr_evaluate_with(net, set, &(gr_evaluate_options){0});
}

gr_metrics gr_evaluate_with(gr_module *net, gr_dataset *set, const gr_evaluate_options *options)
{
    gr_evaluator e = {0};
    gr_metrics m = {NAN, NAN, NAN, NAN, NAN, .samples = 0};
    const int64_t batch = options->batch > 0 ? options->batch : 64;
    if (net && gr__evaluator_open(&e, net, set, &(gr_loader_options){.batch = batch})) {
        e.loss = (gr_loss_rule){options->loss, options->user, options->label_smoothing};
        m = gr__evaluator_run(&e);
    }
    gr__evaluator_close(&e);
    m.confusion = NULL;
    return m;
}
