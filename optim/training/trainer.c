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

/* The batch's gradients are the sum over its shards: its score, and the optimizer's step. False: recorded. */
static bool finish_shards(gr_trainer *t, const gr_batch *piece, bool first_pass)
{
    gr_shard_sum *s = &t->sum;
    if (!gr__shard_sum_finish(s, piece, gr_loader_batch(t->loader)))
        return false;
    if (first_pass && !gr_tally(t->total, gr__shard_sum_loss(s), gr__shard_sum_correct(s),
                                &(gr_tally_args){.finite = t->ctx->scaler != NULL}))
        return false;
    return gr__update_begin(t->opt) && gr__update_finish(t->opt);
}

/* One pass over a piece of a shard, and what follows behind the shard's last. False: recorded. */
static bool shard_pass(gr_trainer *t, const gr_batch *piece, bool first_pass)
{
    if (!gr__shard_sum_piece(&t->sum, piece))
        return false;
    gr_tensor *z = gr__forward(t->net, piece->x), *loss = gr__piece_loss(t->net, z, piece, &t->loss);
    return loss && (!first_pass || gr__shard_sum_score(&t->sum, loss, gr_accuracy(z, piece->y, piece->weight))) &&
           gr__backward(loss, gr__shard_sum_hook(&t->sum, piece)) && (!piece->shard_last || gr__shard_sum_put(&t->sum));
}

/* The same where shards meet within it, also for one without samples. False: recorded. */
static bool meeting_pass(gr_trainer *t, const gr_batch *piece, bool first_pass)
{
    t->meeting.absent = t->sum.shards - piece->shards;
    if (piece->n == 0)
        return gr__meeting_attend(&t->meeting, t->ctx);
    t->ctx->meeting = &t->meeting;
    const bool good = shard_pass(t, piece, first_pass) && (t->ctx->planning || gr__meeting_over(&t->meeting, t->ctx));
    t->ctx->meeting = NULL;
    return good;
}

/* One pass over a piece of a shard, or none where it has no samples; what follows behind the batch's last. */
static bool shard_step(gr_trainer *t, const gr_batch *piece, bool first_pass)
{
    const bool good =
        t->meeting.group ? meeting_pass(t, piece, first_pass) : piece->n == 0 || shard_pass(t, piece, first_pass);
    return good && (!piece->last || finish_shards(t, piece, first_pass));
}

static bool is_sharded(const gr_trainer *t)
{
    return t->sum.shards > 1;
}

static bool whole_step(void *user, const gr_batch *batch)
{
    return step(user, batch, true);
}

/* Whether an update is one pass over one piece, on a device that can repeat it, and nobody looks into it. */
static bool repeats(const gr_trainer *t, const gr_batch *piece)
{
    return t->ctx->device->replay && !is_sharded(t) && !t->no_graph && !t->meter.on && !t->ctx->trace &&
           !t->opt->lr_scale && !t->opt->later && t->opt->lookahead.every == 0 && gr_optimizer_passes(t->opt) == 1 &&
           piece->first && piece->last;
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
        if (is_sharded(t))
            gr__shard_sum_begin(&t->sum);
        for (bool last = false; good && !last;) {
            last = piece->last;
            samples = piece->whole;
            good = is_sharded(t)       ? shard_step(t, piece, pass == 0)
                   : repeats(t, piece) ? gr__step_graphs_run(&t->graphs, t->opt, piece, whole_step, t)
                                       : step(t, piece, pass == 0);
            gr_step_end(t->ctx);
            good = good && (last || gr_loader_next(t->loader, piece));
        }
    }
    return samples;
}

/* A pass over a piece of a model that is built, and the step behind it. */
static void plan_pass(gr_trainer *t, gr_batch *piece, bool first_pass, bool only)
{
    piece->last = only || is_sharded(t);
    piece->shards = t->sum.shards;
    if (is_sharded(t) && gr__shard_sum_prepare(&t->sum, t->opt)) {
        gr__shard_sum_begin(&t->sum);
        shard_step(t, piece, first_pass);
    } else if (gr_ok(t->ctx)) {
        step(t, piece, first_pass);
    }
    if (!piece->last)
        gr_optimizer_step(t->opt);
}

bool gr__trainer_plan_piece(gr_trainer *t, int64_t n, bool only)
{
    for (int pass = 0; pass < gr_optimizer_passes(t->opt); pass++) {
        gr_batch piece;
        gr_plan_begin(t->ctx);
        if (gr_loader_dry(t->loader, n, &piece) && gr__build_for(t->net, piece.x) && gr__optimizer_prepare(t->opt))
            plan_pass(t, &piece, pass == 0, only);
        if (gr_plan_end(t->ctx) < 0)
            return false;
    }
    return true;
}

/* A batch, or a shard of one, of n rows. */
static bool plan_rows(gr_trainer *t, int64_t n)
{
    const int64_t micro = gr_loader_micro_batch(t->loader);
    if (n <= micro)
        return gr__trainer_plan_piece(t, n, true);
    return gr__trainer_plan_piece(t, micro, false) && (n % micro == 0 || gr__trainer_plan_piece(t, n % micro, false));
}

bool gr__trainer_plan(gr_trainer *t, int64_t n)
{
    const int64_t shards = t->sum.shards, least = n / shards;
    return (least == 0 || plan_rows(t, least)) && (n % shards == 0 || plan_rows(t, least + 1));
}

void gr__trainer_find_overflow(gr_trainer *t, const gr_batch *piece, char *text, size_t size)
{
    gr_overflow_watch watch = {.where = ""};
    t->meeting.absent = t->sum.shards - piece->shards;
    if (piece->n == 0) {
        if (t->meeting.group)
            gr__meeting_attend(&t->meeting, t->ctx);
        *text = '\0';
        return;
    }
    gr__overflow_watch_begin(t->ctx, &watch);
    t->ctx->meeting = t->meeting.group ? &t->meeting : NULL;
    if (gr_backward(gr__piece_loss(t->net, gr__forward(t->net, piece->x), piece, &t->loss)) && t->meeting.group)
        gr__meeting_over(&t->meeting, t->ctx);
    t->ctx->meeting = NULL;
    gr__overflow_watch_end(t->ctx);
    snprintf(text, size, "%s", watch.where);
}
