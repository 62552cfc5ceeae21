/* estimate.c - see estimate.h. */
#include "sweep/estimate.h"

#include <math.h>
#include <string.h>

#include "sources/source.h"
#include "terminal/json_values.h"

/* Samples per second of the cells of this optimizer and batch size that are done; 0: there are none. */
static double measured_rate(const journal *j, const cell *c)
{
    double sum = 0;
    int n = 0;
    size_t i;
    json_t *row;
    char variant[VARIANT_NAME];
    cell_variant(c, variant);
    json_array_foreach(j->rows, i, row)
    {
        bool same = strcmp(text_at(row, "optimizer"), c->optimizer->name) == 0 &&
                    strcmp(text_at(row, "variant"), variant) == 0 &&
                    json_integer_value(json_object_get(row, "batch")) == c->batch;
        double rate = json_number_value(json_object_get(row, "samples_per_second"));
        if (same && rate > 0) {
            sum += rate;
            n++;
        }
    }
    return n ? sum / n : 0;
}

/* Seconds per update with pictures drawn by formula: one update to warm up, two that count. NAN: it did not work. */
static double try_out(const estimate *e, const optimizer *o, int64_t batch)
{
    const resolved s = grid_resolve(e->settings, e->recipe, &(cell){.optimizer = o, .batch = batch, .seed = 1});
    gr_context *ctx = resolved_open(&s, false);
    gr_split split = {.train = gr_augmented(source_built_in(ctx, &s, 2 * batch, 0), s.augment)};
    gr_module *net = resolved_built_net(&s, ctx, split.train);
    gr_optimizer *opt = resolved_optimizer(&s, ctx, net);
    gr_fit_options fit = resolved_fit_updates(&s, 1);
    fit.batch = batch;
    fit.n_stages = 0;
    fit.sharpness = 0;
    double seconds = 0;
    for (; fit.updates <= 2; fit.updates++)
        seconds = gr_fit(net, opt, split, &fit).seconds / (double)fit.updates;
    bool good = gr_ok(ctx);
    gr_close(ctx);
    return good ? seconds : NAN;
}

/* The smallest and largest batch size of an optimizer's cells that nothing is known of. False: there are none. */
static bool unknown_batches(const grid *g, const journal *j, const optimizer *o, int64_t batch[2])
{
    enum { LARGEST = 64 }; /* beyond it the time per sample hardly changes any more, and trying takes long */
    batch[0] = LARGEST;
    batch[1] = 0;
    for (int i = 0; i < grid_count(g); i++) {
        cell c = grid_cell(g, i);
        if (c.optimizer != o || !journal_lacks(j, &c) || measured_rate(j, &c) > 0)
            continue;
        int64_t b = c.batch < LARGEST ? c.batch : LARGEST;
        batch[0] = b < batch[0] ? b : batch[0];
        batch[1] = b > batch[1] ? b : batch[1];
    }
    return batch[1] > 0;
}

bool estimate_probe(estimate *e, const grid *g, const journal *j)
{
    bool any = false;
    for (int o = 0; o < g->optimizers.n; o++) {
        probe *p = &e->probes[o];
        if (!unknown_batches(g, j, g->optimizers.list[o], p->batch))
            continue;
        any = true;
        for (int i = 0; i < 2; i++)
            p->seconds[i] =
                i == 1 && p->batch[1] == p->batch[0] ? p->seconds[0] : try_out(e, g->optimizers.list[o], p->batch[i]);
    }
    return any;
}

static double seconds_per_update(const estimate *e, const grid *g, const journal *j, const cell *c)
{
    double rate = measured_rate(j, c), batch = (double)c->batch;
    if (rate > 0)
        return batch / rate;
    int o = 0;
    while (g->optimizers.list[o] != c->optimizer)
        o++;
    const probe *p = &e->probes[o];
    if (p->batch[0] == p->batch[1])
        return p->seconds[0] * batch / (double)p->batch[0];
    double slope = (p->seconds[1] - p->seconds[0]) / (double)(p->batch[1] - p->batch[0]);
    return p->seconds[0] + slope * (batch - (double)p->batch[0]);
}

double estimate_cell(const estimate *e, const grid *g, const journal *j, const cell *c)
{
    const resolved s = grid_resolve(e->settings, e->recipe, c);
    int64_t per_epoch = (e->train + (s.last_batch == GR_DROP ? 0 : c->batch - 1)) / c->batch;
    const double update = seconds_per_update(e, g, j, c), batch = (double)c->batch;
    const double updates = s.budget.updates > 0   ? (double)s.budget.updates
                           : s.budget.samples > 0 ? (double)s.budget.samples / batch
                           : s.budget.seconds > 0 ? s.budget.seconds / update
                                                  : (double)(s.budget.epochs * per_epoch);
    const double epochs = s.budget.epochs > 0 ? (double)s.budget.epochs : floor(updates / fmax(1, (double)per_epoch));
    const double evaluated = epochs * (double)e->val + (double)e->test;
    return e->read_seconds + (updates + evaluated / batch / 3) * update; /* forward only: about a third of its work */
}
