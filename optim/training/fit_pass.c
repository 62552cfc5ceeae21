/* fit_pass.c - what an update computes: passes over its batch, piece by piece. */
#include "optim/training/fit.h"

/*
 * The gradient's norm behind the first piece and behind the last. Losses are divided by the whole batch's weight, so
 * that the first piece's own gradient is larger by the ratio of the two.
 */
static bool measure_noise(gr_fit_run *f, const gr_batch *piece)
{
    if (!piece->first && !piece->last)
        return true;
    gr_tensor *norm = gr__gradient_norm(f->opt);
    if (f->ctx->planning || !norm)
        return norm;
    const double weight = 1 / f->ctx->state.inv_weight, value = gr_item(norm);
    if (piece->first) {
        f->first_samples = (double)piece->samples;
        f->first_norm = value * weight / f->first_samples;
    } else {
        gr_noise_add(&f->noise, f->first_norm, f->first_samples, value, weight);
    }
    return true;
}

/* Losses are shares of the whole batch's: gradients and sums of the pieces add up, and the penalty comes once. */
bool gr__fit_step(gr_fit_run *f, const gr_batch *piece, bool first_pass)
{
    gr_tensor *z = gr_forward(f->net, piece->x), *loss = gr_loss(z, piece);
    if (piece->first)
        loss = gr_add_penalty(f->net, loss);
    if (first_pass && !gr_tally(f->score.total, loss, gr_accuracy(z, piece->y, piece->weight),
                                &(gr_tally_args){.finite = f->ctx->scaler != NULL}))
        return false;
    if (piece->first && piece->last)
        return gr_minimize(f->opt, loss);
    bool good = gr_backward(loss) && (!f->o->noise_scale || !first_pass || measure_noise(f, piece));
    return good && (!piece->last || gr_optimizer_step(f->opt));
}

static bool whole_step(void *user, const gr_batch *batch)
{
    return gr__fit_step(user, batch, true);
}

/* Whether an update is one pass over one piece, on a device that can repeat it, and nobody looks into it. */
static bool repeats(const gr_fit_run *f, const gr_batch *piece)
{
    return f->ctx->device->replay && !f->o->no_graph && !f->o->noise_scale && !f->ctx->trace &&
           gr_optimizer_passes(f->opt) == 1 && piece->first && piece->last;
}

int64_t gr__fit_train(gr_fit_run *f, gr_batch *piece)
{
    int64_t samples = 0;
    bool good = true;
    for (int pass = 0; good && pass < gr_optimizer_passes(f->opt); pass++) {
        if (pass > 0) {
            gr_loader_again(f->train);
            good = gr_loader_next(f->train, piece);
        }
        for (bool last = false; good && !last;) {
            last = piece->last;
            samples += pass == 0 ? piece->samples : 0;
            good = repeats(f, piece) ? gr__step_graphs_run(&f->graphs, f->opt, piece, whole_step, f)
                                     : gr__fit_step(f, piece, pass == 0);
            gr_step_end(f->ctx);
            good = good && (last || gr_loader_next(f->train, piece));
        }
    }
    return samples;
}
