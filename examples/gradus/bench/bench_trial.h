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

/* Which passes are measured. */
typedef enum {
    BENCH_ALL,
    BENCH_FORWARD,
    BENCH_BACKWARD, /* all gradients; the forward pass runs before it and is not told of */
    BENCH_DX,       /* the first input's gradient alone */
    BENCH_DW,       /* all but the first input's */
    BENCH_UPDATE    /* of an operation that changes state */
} bench_part;

/* How a trial is run. */
typedef struct {
    bench_part part;
    bool cold;   /* the caches hold something else before each pass */
    bool pinned; /* every thread has a processor of its own */
} bench_way;

typedef struct {
    const bench_case *c;
    bench_way way;
    gr_context *ctx;
    int64_t batch;
    int64_t period; /* samples that differ: sample n is as sample n mod period */
    bench_row row;
    gr_tensor *in[BENCH_INPUTS];
    gr_tensor *dy;     /* the result's gradient, from outside; NULL: nothing is differentiated */
    gr_tensor *result; /* of the step that has run */
    gr_tensor *other;  /* what fills the caches in between; NULL: nothing does */
    bool filling;      /* the kernel that runs is the one that does */
    double now[2];     /* seconds of the step that has run: forward or update, backward */
    double flops[2];
    gr_counters count[2];
} bench_trial;

/* Whether a case has the passes that are asked for. */
bool bench_has_part(const bench_case *c, bench_part part);

/* Whether pass 0 (forward or update) or 1 (backward) of a trial is told of. */
bool bench_shows(const bench_trial *t, int pass);

/*
 * Sets a case up: inputs drawn, memory planned. options.plan_only: counts only. False: the context tells why; also then
 * bench_close is due.
 */
bool bench_open(bench_trial *t, const bench_case *c, bench_way way, const gr_options *options, int64_t batch,
                int64_t period);
void bench_close(bench_trial *t);

/* One step, up to but without its end: gr_step_end is due when the result has been looked at. */
void bench_step(bench_trial *t);

/* A step for its time alone, with its end: a pass that is not asked for is left out where it can be. */
void bench_repeat(bench_trial *t);

/* Bytes on the host that bench_open and bench_compare take beside the context's own. */
int64_t bench_staging(const bench_trial *t);

/*
 * How many samples of the batch should differ: as many as the reference can compute in about a second, and a divisor of
 * the batch size.
 */
int64_t bench_period(const bench_trial *planned);

#endif
