/*
 * noise.c - the gradient noise scale (McCandlish, Kaplan, Amodei, "An empirical model of large-batch training", 2018,
 * appendix A.1). The expected square of the norm of a batch's gradient is |G|^2 + tr(Sigma) / B: two batch sizes give
 * both unknowns, each without bias. Their ratio would have one, so numerator and denominator are smoothed on their own.
 */
#include "optim/training/noise.h"

#include <math.h>

static const double KEEP = 0.99; /* of the running means, at each update */

void gr_noise_add(gr_noise *n, double small_norm, double small, double big_norm, double big)
{
    const double s = small_norm * small_norm, b = big_norm * big_norm;
    n->last = (gr_noise_scale){NAN, NAN, NAN};
    if (!isfinite(s) || !isfinite(b) || !(small > 0 && small < big))
        return;
    const double gradient = (big * b - small * s) / (big - small), noise = (s - b) / (1 / small - 1 / big);
    n->last = (gr_noise_scale){gradient, noise, noise / gradient};
    n->gradient_sum = KEEP * n->gradient_sum + (1 - KEEP) * (big * b - small * s) / (big - small);
    n->noise_sum = KEEP * n->noise_sum + (1 - KEEP) * (s - b) / (1 / small - 1 / big);
    n->weight = KEEP * n->weight + (1 - KEEP);
}

gr_noise_scale gr_noise_read(const gr_noise *n)
{
    return (gr_noise_scale){.gradient = n->gradient_sum / n->weight,
                            .noise = n->noise_sum / n->weight,
                            .scale = n->noise_sum / n->gradient_sum};
}

/*
 * The gradient's norm behind the first piece and behind the last. Losses are divided by the whole batch's weight, so
 * that the first piece's own gradient is larger by the ratio of the two.
 */
bool gr__noise_measure(gr_noise_meter *m, gr_optimizer *opt, const gr_batch *piece)
{
    if (!m->on || (!piece->first && !piece->last))
        return true;
    gr_tensor *norm = gr__gradient_norm(opt);
    if (opt->ctx->planning || !norm)
        return norm;
    const double weight = 1 / opt->ctx->state.inv_weight, value = gr_item(norm);
    if (piece->first) {
        m->first_samples = (double)piece->samples;
        m->first_norm = value * weight / m->first_samples;
    } else {
        gr_noise_add(&m->noise, m->first_norm, m->first_samples, value, weight);
    }
    return true;
}
