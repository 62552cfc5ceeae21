/*
 * bench_answer.h - what a case has computed, compared with what the reference has.
 */
#ifndef GRADUS_BENCH_ANSWER_H
#define GRADUS_BENCH_ANSWER_H

#include "bench/bench_trial.h"

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
 * names the tensor. The reference may hold one period of the batch. Gradients may be loss_scale times as large, as
 * those of losses are in fp16. INFINITY where a number is none.
 */
double bench_compare(const bench_answer *answer, const bench_answer *reference, double loss_scale, const char **what);

#endif
