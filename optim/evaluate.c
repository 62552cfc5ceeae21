/* evaluate.c - the loss that fits a model's answer, and a pass over a set without a tape. */
#include "optim/evaluate.h"

#include <math.h>

#include "nn/module.h"

gr_tensor *gr_loss(gr_tensor *z, const gr_batch *batch)
{
    return gr_dim(z, 1) == 1 ? gr_sigmoid_bce(z, batch->y, batch->weight)
                             : gr_softmax_cross_entropy(z, batch->y, batch->weight);
}

gr_loader *gr__evaluation_loader(gr_dataset *set, int64_t batch)
{
    int64_t size = gr_dataset_size(set);
    return set ? gr_loader_open(set, &(gr_loader_options){.batch = batch < size ? batch : size}) : NULL;
}

bool gr__plan_evaluation(gr_module *net, gr_loader *loader, int64_t n)
{
    gr_batch batch;
    bool recorded = gr_record(net->ctx, false);
    gr_plan_begin(net->ctx);
    if (gr_loader_dry(loader, n, &batch)) {
        gr_tensor *z = gr_forward(net, batch.x);
        gr_accuracy(z, batch.y, batch.weight);
        gr_add_penalty(net, gr_loss(z, &batch));
    }
    bool fits = gr_plan_end(net->ctx) >= 0;
    gr_record(net->ctx, recorded);
    return fits;
}

/* Adds one batch to the sums. */
static void add_batch(gr_module *net, const gr_batch *batch, gr_metrics *sum)
{
    gr_tensor *z = gr_forward(net, batch->x);
    gr_tensor *correct = gr_accuracy(z, batch->y, batch->weight);
    sum->loss += gr_item(gr_add_penalty(net, gr_loss(z, batch))) * (double)batch->samples;
    sum->accuracy += gr_item(correct);
    sum->samples += batch->samples;
    gr_step_end(net->ctx);
}

gr_metrics gr__evaluate(gr_module *net, gr_loader *loader)
{
    gr_metrics sum = {0};
    if (net && loader) {
        bool recorded = gr_record(net->ctx, false);
        gr_batch batch;
        while (gr_loader_next(loader, &batch))
            add_batch(net, &batch, &sum);
        gr_record(net->ctx, recorded);
        gr_set_update_weight(net->ctx, 0); /* the loader's weight is not for whoever trains next */
    }
    double n = sum.samples > 0 ? (double)sum.samples : NAN;
    return (gr_metrics){sum.loss / n, sum.accuracy / n, sum.samples};
}

gr_metrics gr_evaluate(gr_module *net, gr_dataset *set)
{
    gr_loader *loader = net ? gr__evaluation_loader(set, 64) : NULL;
    gr_metrics metrics = gr__evaluate(net, loader);
    gr_loader_close(loader);
    return metrics;
}
