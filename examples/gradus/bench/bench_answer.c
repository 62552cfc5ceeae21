/* bench_answer.c - see bench_answer.h. */
#include "bench/bench_answer.h"

#include <math.h>
#include <stdlib.h>

#include "bench/bench_draw.h"
#include "bench/bench_half.h"

static double load(const void *values, gr_type type, int64_t i)
{
    switch (type) {
    case GR_F64:
        return ((const double *)values)[i];
    case GR_F32:
        return ((const float *)values)[i];
    case GR_I32:
        return ((const int32_t *)values)[i];
    case GR_F16:
    case GR_BF16:
        return half_value(type, ((const uint16_t *)values)[i]);
    default:
        return ((const uint8_t *)values)[i];
    }
}

/* Adds a tensor to an answer; of input number key that is changed in place (else -1), what was added to it. */
static bool keep(bench_answer *a, const bench_trial *trial, const gr_tensor *t, int key, bool per_sample_gradient,
                 const char *what, const char *name)
{
    int64_t count = gr_count(t);
    void *raw = malloc((size_t)count * gr_type_size(gr_type_of(t)) + 1);
    double *values = malloc((size_t)count * sizeof *values + 1);
    bool done = raw && values && gr_download(t, raw);
    const gr_type type = gr_type_of(t);
    if (done && key >= 0)
        bench_draw(&trial->row.inputs[key], key, count, values);
    for (int64_t i = 0; done && i < count; i++)
        values[i] = load(raw, type, i) - (key < 0 ? 0 : values[i]);
    free(raw);
    snprintf(a->parts[a->n].what, sizeof a->parts[a->n].what, "%s%s", what, name);
    a->parts[a->n].count = count;
    a->parts[a->n].per_sample_gradient = per_sample_gradient;
    a->parts[a->n++].values = values;
    return done;
}

bool bench_ask(bench_trial *t, bench_answer *answer)
{
    *answer = (bench_answer){0};
    bench_step(t);
    bool outside = false, own = true, done = gr_ok(t->ctx); /* own: the result is no input */
    for (int i = 0; i < t->row.n; i++) {
        outside |= t->row.inputs[i].outside;
        own &= t->result != t->in[i];
    }
    if (own && done)
        done = keep(answer, t, t->result, -1, outside, "the result", "");
    for (int i = 0; i < t->row.n && done; i++) {
        const bench_input *input = &t->row.inputs[i];
        if (input->gradient)
            done = keep(answer, t, gr_grad(t->in[i]), -1, true, "the gradient of ", input->name);
        else if (input->changed)
            done = keep(answer, t, t->in[i], i, false, "the change of ", input->name);
        else if (input->written)
            done = keep(answer, t, t->in[i], -1, false, "the new ", input->name);
    }
    gr_step_end(t->ctx);
    return done && gr_ok(t->ctx);
}

void bench_forget(bench_answer *answer)
{
    for (int i = 0; i < answer->n; i++)
        free(answer->parts[i].values);
    answer->n = 0;
}

/* As bench_compare, of one tensor. */
static double difference(const double *values, int64_t count, const double *expected, int64_t period, double scale)
{
    double largest = 0, apart = 0;
    for (int64_t i = 0; i < period; i++)
        largest = fmax(largest, fabs(scale * expected[i]));
    for (int64_t i = 0, j = 0; i < count; i++, j = j + 1 < period ? j + 1 : 0) {
        double d = fabs(values[i] - scale * expected[j]);
        if (!isfinite(d))
            return INFINITY;
        apart = d > apart ? d : apart;
    }
    return largest > 0 ? apart / largest : apart;
}

double bench_compare(const bench_answer *answer, const bench_answer *reference, double loss_scale, const char **what)
{
    double worst = -1;
    for (int i = 0; i < answer->n; i++) {
        int64_t count = answer->parts[i].count, period = reference->parts[i].count;
        bool shared = answer->parts[i].per_sample_gradient && count > period;
        const double share = shared ? (double)period / (double)count : 1, *values = answer->parts[i].values;
        double d = difference(values, count, reference->parts[i].values, period, share);
        if (answer->parts[i].per_sample_gradient && loss_scale > 1)
            d = fmin(d, difference(values, count, reference->parts[i].values, period, share * loss_scale));
        if (d > worst) {
            worst = d;
            *what = answer->parts[i].what;
        }
    }
    return worst;
}
