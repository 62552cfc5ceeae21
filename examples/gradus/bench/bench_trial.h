/*
 * bench_trial.h - one case of gradus bench at one batch size, set up in a context of its own.
 *
 * The reference is slow, so it computes only the first samples of a large batch, and the batch repeats them. To make
 * both comparable, gradients from outside are divided by the number of repetitions: a sum over the batch is then the
 * same, a sample's own gradient that much smaller.
 */
#ifndef GRADUS_BENCH_TRIAL_H
#define GRADUS_BENCH_TRIAL_H

#include "bench/bench_cases.h"

typedef struct {
    const bench_case *c;
    gr_context *ctx;
    int64_t batch;
    int64_t period; /* samples that differ: sample n is as sample n mod period */
    bench_row row;
    gr_tensor *in[BENCH_INPUTS];
    gr_tensor *dy;     /* the result's gradient, from outside; NULL: nothing is differentiated */
    gr_tensor *result; /* of the step that has run */
    double now[2];     /* seconds of the step that has run: forward or update, backward */
    double flops[2];
    gr_counters count[2];
} bench_trial;

/*
 * Sets a case up: inputs drawn, memory planned. options.plan_only: counts only. False: the context tells why; also then
 * bench_close is due.
 */
bool bench_open(bench_trial *t, const bench_case *c, const gr_options *options, int64_t batch, int64_t period);
void bench_close(bench_trial *t);

/* One step, up to but without its end: gr_step_end is due when the result has been looked at. */
void bench_step(bench_trial *t);

/* Bytes on the host that bench_open and bench_compare take beside the context's own. */
int64_t bench_staging(const bench_trial *t);

/*
 * How many samples of the batch should differ: as many as the reference can compute in about a second, and a divisor of
 * the batch size.
 */
int64_t bench_period(const bench_trial *planned);

#endif
