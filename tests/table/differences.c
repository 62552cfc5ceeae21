/*
 * differences.c - the oracle's gradients against (L(x + h) - L(x - h)) / 2h, L = sum dY y, in double.
 *
 * Every operation is linear between its jumps or smooth: at h = 1e-6 the truncation is below 1e-11 and the rounding of
 * y, divided by h, below 1e-9 of the largest.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/table/checks.h"
#include "tests/table/report.h"

static const double H = 1e-6, TOLERANCE = 1e-7;

/* sum dY (after - before) over the results of two forward passes. */
static double change(const trial *t, const double *before)
{
    double sum = 0;
    for (int64_t i = 0; i < trial_count(t, trial_out(0)); i++)
        sum += trial_get(t, TRIAL_D_OUT, i) * (trial_get(t, trial_out(0), i) - before[i]);
    return sum;
}

static double difference(trial *t, const gr_kernel *kernel, int slot, int64_t i, double *scratch)
{
    double x = trial_get(t, slot, i);
    trial_set(t, slot, i, x - H);
    kernel->forward(&t->call);
    for (int64_t j = 0; j < trial_count(t, trial_out(0)); j++)
        scratch[j] = trial_get(t, trial_out(0), j);
    trial_set(t, slot, i, x + H);
    kernel->forward(&t->call);
    trial_set(t, slot, i, x);
    return change(t, scratch) / (2 * H);
}

/* The largest result: its rounding is what limits a difference. */
static double largest(const truth *o)
{
    double most = 1;
    for (int64_t i = 0; i < trial_count(&o->run, trial_out(0)); i++)
        most = fmax(most, fabs(trial_get(&o->run, trial_out(0), i)));
    return most;
}

static void check_slot(const truth *o, trial *t, int slot, double *scratch)
{
    const gr_kernel *kernel = &gr__ref_f64_kernels[o->run.row->op->id];
    const double scale = largest(o);
    for (int64_t i = 0; i < trial_count(t, slot); i++) {
        double numeric = difference(t, kernel, slot, i, scratch) * t->state.loss_scale;
        double analytic = trial_get(&o->run, trial_d_in(slot), i);
        if (fabs(numeric - analytic) <= TOLERANCE * (scale + o->magnitude[trial_d_in(slot)][i]))
            continue;
        report_failure(o->run.row, "ref-f64", "%s[%lld] is %.9g, by central differences %.9g",
                       truth_name(o->run.row, trial_d_in(slot)), (long long)i, analytic, numeric);
        return;
    }
}

void check_differences(const truth *o)
{
    const row *r = o->run.row;
    if (r->op->kind != GR_DIFF || r->ties || !r->golden)
        return;
    trial t;
    trial_open(&t, r, &o->run.shapes, GR_F64);
    t.exec = (gr_exec){.state = &t.state};
    double *scratch = calloc((size_t)trial_count(&t, trial_out(0)) + 1, sizeof *scratch);
    for (int i = 0; i < GR_MAX_IN; i++)
        if (t.call.d_in[i])
            check_slot(o, &t, i, scratch);
    free(scratch);
    trial_close(&t);
}
