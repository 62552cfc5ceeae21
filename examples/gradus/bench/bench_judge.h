/*
 * bench_judge.h - what times may claim. Samples of one round share their memory's places, the clock and whatever else
 * the machine did in that moment, so a round counts once, by its median. Intervals are of trimmed means of logarithms,
 * by Student's t, and so of ratios.
 */
#ifndef GRADUS_BENCH_JUDGE_H
#define GRADUS_BENCH_JUDGE_H

#include <stdbool.h>

enum { JUDGE_MOST = 2000 /* times of a side */ };

/* The median of n values, at least one, which get sorted. */
double median_of(double *values, int n);
/* The value below which a share of n sorted values lies. */
double quantile_of(const double *sorted, int n, double share);

/* Half the width of the 95 % interval of the mean of n times, at most JUDGE_MOST, as a share of it; INFINITY: n < 2. */
double noise_of(const double *times, int n);

/* A side of a comparison: seconds, each the median of a round, at most JUDGE_MOST of them. */
typedef struct {
    const double *times;
    int n;
} bench_side;

typedef struct {
    double ratio;     /* new / old; above 1 it has become slower */
    double low, high; /* its 99 % interval */
    double p;         /* probability of a ratio at least as far from 1 where nothing has changed; NAN: not known */
} bench_verdict;

/*
 * Two sides that were measured one after the other, by Welch's t. drift: how far ratios of what cannot have changed
 * were from 1 in between, as the root of the mean square of their logarithms, with n_drift degrees of freedom; it
 * counts as one more source of error.
 */
bench_verdict judge_apart(bench_side before, bench_side after, double drift, int n_drift);

/* Two sides that were measured in turns, n rounds each, at most JUDGE_MOST: pairs. */
bench_verdict judge_in_turns(const double *before, const double *after, int n);

enum { VERDICT_UNDECIDED, VERDICT_FASTER, VERDICT_SLOWER };

/*
 * Decides n verdicts together, Holm's correction done, so that a run in which nothing changed has any but "undecided"
 * once in a hundred times. False: no memory.
 */
bool judge_together(const bench_verdict *verdicts, int n, int *decided);

extern const char *const verdict_names[]; /* "undecided", "faster", "slower" */

#endif
