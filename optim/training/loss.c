/* loss.c - the loss that fits a model's answer, or a program's own. */
#include "optim/training/loss.h"

#include "core/context.h"

/*
 * Whether the answer has a place for every label: one that has none makes the loss NaN and the gradient a number, so
 * that weights would move before anyone looks. False: recorded.
 */
static bool fits_labels(const gr_tensor *z, const gr_batch *batch)
{
    const int64_t places = gr_dim(z, 1) == 1 ? 2 : gr_dim(z, 1);
    return batch->classes <= places ||
           gr__fail(z->ctx, GR_USAGE,
                    "the set has %d classes, the model's answer is for %lld; give its last layer a unit for each class",
                    batch->classes, (long long)places);
}

static gr_tensor *smoothed_loss(gr_tensor *z, const gr_batch *batch, double smoothing)
{
    if (!z || !fits_labels(z, batch))
        return NULL;
    if (gr_dim(z, 1) > 1)
        return gr_smoothed_cross_entropy(z, batch->y, batch->weight, smoothing);
    if (smoothing > 0)
        gr__fail(
            z->ctx, GR_USAGE,
            "labels are smoothed over the classes of a softmax, and the model's answer is a single logit; give its "
            "last layer a unit for each class");
    return gr_sigmoid_bce(z, batch->y, batch->weight);
}

gr_tensor *gr_loss(gr_tensor *z, const gr_batch *batch)
{
    return smoothed_loss(z, batch, 0);
}

static gr_tensor *loss_by(const gr_loss_rule *rule, gr_tensor *z, const gr_batch *batch)
{
    if (!z || !rule->function)
        return smoothed_loss(z, batch, rule->smoothing);
    gr_context *ctx = z->ctx;
    gr_tensor *loss = rule->function(rule->user, z, batch);
    if (!loss)
        gr__fail(ctx, GR_USAGE, "the program's own loss function gave NULL");
    else if (gr__alive(loss, "the program's own loss function") && loss->count != 1)
        gr__fail(ctx, GR_USAGE, "the program's own loss function gave %lld numbers; a loss is one",
                 (long long)loss->count);
    return gr_ok(ctx) ? loss : NULL;
}

gr_tensor *gr__piece_loss(gr_module *net, gr_tensor *z, const gr_batch *piece, const gr_loss_rule *rule)
{
    gr_tensor *loss = loss_by(rule, z, piece);
    return piece->first ? gr_add_penalty(net, loss) : loss;
}
