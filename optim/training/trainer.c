/* trainer.c - see trainer.h. */
#include "optim/training/trainer.h"

#include <stdio.h>

#include "amp/overflow.h"
#include "nn/module.h"

/*
 * One pass over a piece, and the optimizer's step behind the last one. Losses are shares of the whole batch's:
 * gradients and sums of the pieces add up, and the penalty comes once. False: recorded.
 */
static bool step(gr_trainer *t, const gr_batch *piece, bool first_pass)
{
    gr_tensor *z = gr__forward(t->net, piece->x), *loss = gr__piece_loss(t->net, z, piece, &t->loss);
    if (!loss)
        return false;
    if (first_pass && !gr_tally(t->total, loss, gr_accuracy(z, piece->y, piece->weight),
                                &(gr_tally_args){.finite = t->ctx->scaler != NULL}))
        return false;
    if (piece->first && piece->last)
        return gr__minimize(t->opt, loss);
    if (!gr_backward(loss) || (first_pass && !gr__noise_measure(&t->meter, t->opt, piece)))
        return false;
    return !piece->last || (gr__update_begin(t->opt) && gr__update_finish(t->opt));
}

static bool whole_step(void *user, const gr_batch *batch)
{
    return step(user, batch, true);
}

/* Whether an update is one pass over one piece, on a device that can repeat it, and nobody looks into it. */
static bool repeats(const gr_trainer *t, const gr_batch *piece)
{
    return t->ctx->device->replay && !t->no_graph && !t->meter.on && !t->ctx->trace && !t->opt->lr_scale &&
           gr_optimizer_passes(t->opt) == 1 && piece->first && piece->last;
}

int64_t gr__trainer_update(gr_trainer *t, gr_batch *piece)
{
    int64_t samples = 0;
    bool good = gr__optimizer_prepare(t->opt);
    for (int pass = 0; good && pass < gr_optimizer_passes(t->opt); pass++) {
        if (pass > 0) {
            gr_loader_again(t->loader);
            good = gr_loader_next(t->loader, piece);
        }
        for (bool last = false; good && !last;) {
            last = piece->last;
            samples += pass == 0 ? piece->samples : 0;
            good = repeats(t, piece) ? gr__step_graphs_run(&t->graphs, t->opt, piece, whole_step, t)
                                     : step(t, piece, pass == 0);
            gr_step_end(t->ctx);
            good = good && (last || gr_loader_next(t->loader, piece));
        }
    }
    return samples;
}

bool gr__trainer_plan_piece(gr_trainer *t, int64_t n, bool only)
{
    for (int pass = 0; pass < gr_optimizer_passes(t->opt); pass++) {
        gr_batch piece;
        gr_plan_begin(t->ctx);
        if (gr_loader_dry(t->loader, n, &piece) && gr__build_for(t->net, piece.x) && gr__optimizer_prepare(t->opt)) {
            piece.last = only;
            step(t, &piece, pass == 0);
        }
        if (!only)
            gr_optimizer_step(t->opt);
        if (gr_plan_end(t->ctx) < 0)
            return false;
    }
    return true;
}

bool gr__trainer_plan(gr_trainer *t, int64_t n)
{
    const int64_t micro = gr_loader_micro_batch(t->loader);
    if (n <= micro)
        return gr__trainer_plan_piece(t, n, true);
    return gr__trainer_plan_piece(t, micro, false) && (n % micro == 0 || gr__trainer_plan_piece(t, n % micro, false));
}

void gr__trainer_find_overflow(gr_trainer *t, const gr_batch *piece, char *text, size_t size)
{
    gr_overflow_watch watch;
    gr__overflow_watch_begin(t->ctx, &watch);
    gr_backward(gr__piece_loss(t->net, gr__forward(t->net, piece->x), piece, &t->loss));
    gr__overflow_watch_end(t->ctx);
    snprintf(text, size, "%s", watch.where);
}
