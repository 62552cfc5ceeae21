/*
 * bench_trial.h - one case of gradus bench at one batch size: set up in a context of its own, compared with the
 * reference, timed.
 */
#ifndef GRADUS_BENCH_TRIAL_H
#define GRADUS_BENCH_TRIAL_H

#include "bench/bench_cases.h"

/* What a pass has shown. */
typedef struct {
    int repeats;                             /* 0: the operation has no such pass */
    double median, quartile[2];              /* seconds */
    double flops, bytes_read, bytes_written; /* of one run */
} bench_pass;

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

/* Bytes on the host that bench_open and bench_compare take beside the context's own. */
int64_t bench_staging(const bench_trial *t);

/*
 * How many samples of the batch should differ: as many as the reference can compute in about a second, and a divisor of
 * the batch size.
 */
int64_t bench_period(const bench_trial *planned);

/* All that a step has computed: the result, gradients, what was changed in place. */
typedef struct {
    int n;
    struct {
        char what[48];
        int64_t count;
        bool per_sample_gradient; /* a share of a mean over the batch */
        double *values;           /* [count] */
    } parts[2 * BENCH_INPUTS];
} bench_answer;

/* Runs one step and keeps what it gave. False: the context tells why, or host memory is out. */
bool bench_ask(bench_trial *t, bench_answer *answer);
void bench_forget(bench_answer *answer);

/*
 * The largest difference of an answer from the reference's, as a share of the largest number of the same tensor; *what
 * names the tensor. The reference may hold one period of the batch. INFINITY where a number is none.
 */
double bench_compare(const bench_answer *answer, const bench_answer *reference, const char **what);

/* Warms up and repeats, for so many seconds of each pass. False: the context tells why, or host memory is out. */
bool bench_measure(bench_trial *t, double seconds, bench_pass passes[2]);

#endif
