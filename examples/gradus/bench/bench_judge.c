/* bench_judge.c - see bench_judge.h. */
#include "bench/bench_judge.h"

#include <math.h>
#include <stdlib.h>

#include "sweep/statistics.h"

const char *const verdict_names[] = {"undecided", "faster", "slower"};

static const double level = 0.01;

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double quantile_of(const double *sorted, int n, double share)
{
    const double at = share * (n - 1);
    const int below = (int)at, above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

double median_of(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, ascending);
    return quantile_of(values, n, 0.5);
}

/* A mean and the variance of its error. */
typedef struct {
    double mean, variance; /* the latter NAN below two values */
    int n, df;
} estimate;

/*
 * The mean of the middle three fifths of n values, which get sorted, and its error from the values with the cut ones in
 * their neighbours' places (Tukey and McLaughlin 1963; Yuen 1974): a moment in which another program had the processor
 * shifts neither. Of fewer than five values all are the middle.
 */
static estimate trimmed(double *values, int n)
{
    const int cut = n / 5, kept = n - 2 * cut;
    sample middle = {0}, all = {0};
    qsort(values, (size_t)n, sizeof *values, ascending);
    for (int i = 0; i < n; i++) {
        const int near = i < cut ? cut : i >= n - cut ? n - cut - 1 : i;
        sample_add(&all, values[near]);
        if (near == i)
            sample_add(&middle, values[i]);
    }
    return (estimate){
        .mean = middle.mean, .variance = kept > 1 ? all.squares / kept / (kept - 1) : NAN, .n = n, .df = kept - 1};
}

/* Of the logarithms of times, or of those of after[i] / times[i]. */
static estimate of_logarithms(const double *times, const double *after, int n)
{
    double values[JUDGE_MOST]; /* not asked for: without memory nothing would be told apart, and who would know? */
    for (int i = 0; i < n; i++)
        values[i] = after ? log(after[i] / times[i]) : log(times[i]);
    return n > 0 ? trimmed(values, n) : (estimate){.variance = NAN};
}

double noise_of(const double *times, int n)
{
    const estimate e = of_logarithms(times, NULL, n);
    return e.df < 1 ? INFINITY : student_t_975(e.df) * sqrt(e.variance);
}

/* The t that Student's |T| with df degrees of freedom exceeds with probability level. */
static double critical_t(int df)
{
    double low = 0, high = 64; /* 63.7 with one degree of freedom */
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        *(student_t_beyond(middle, df) > level ? &low : &high) = middle;
    }
    return high;
}

/* Of the logarithm d of a ratio and its standard error. */
static bench_verdict verdict_of(double d, double error, int df)
{
    const double reach = critical_t(df) * error, t = error > 0 ? fabs(d) / error : d != 0 ? INFINITY : 0;
    return (bench_verdict){exp(d), exp(d - reach), exp(d + reach), isinf(t) ? 0 : student_t_beyond(t, df)};
}

static const bench_verdict unknown = {NAN, NAN, NAN, NAN};

/* Degrees of freedom of a sum of n independent variances: Welch 1947, Satterthwaite 1946. Between 1 and 1000. */
static int degrees_of_freedom(const double *variances, const double *df, int n)
{
    double sum = 0, below = 0;
    for (int i = 0; i < n; i++) {
        sum += variances[i];
        below += df[i] > 0 ? variances[i] * variances[i] / df[i] : 0;
    }
    return below > 0 ? (int)fmin(1000, fmax(1, sum * sum / below)) : 1000;
}

bench_verdict judge_apart(bench_side before, bench_side after, double drift, int n_drift)
{
    const estimate a = of_logarithms(before.times, NULL, before.n), b = of_logarithms(after.times, NULL, after.n);
    if (a.n < 1 || b.n < 1)
        return unknown;
    if (a.df < 1 || b.df < 1)
        return (bench_verdict){exp(b.mean - a.mean), NAN, NAN, NAN};
    const double variances[] = {a.variance, b.variance, drift * drift}, df[] = {a.df, b.df, n_drift};
    return verdict_of(b.mean - a.mean, sqrt(variances[0] + variances[1] + variances[2]),
                      degrees_of_freedom(variances, df, 3));
}

bench_verdict judge_in_turns(const double *before, const double *after, int n)
{
    const estimate e = of_logarithms(before, after, n);
    return e.df < 1 ? unknown : verdict_of(e.mean, sqrt(e.variance), e.df);
}

bool judge_together(const bench_verdict *verdicts, int n, int *decided)
{
    double *p = calloc(2 * (size_t)n + 1, sizeof *p);
    if (!p)
        return false;
    for (int i = 0; i < n; i++)
        p[i] = verdicts[i].p;
    holm(p, p + n, n);
    for (int i = 0; i < n; i++)
        decided[i] = !(p[n + i] < level) ? VERDICT_UNDECIDED : verdicts[i].ratio > 1 ? VERDICT_SLOWER : VERDICT_FASTER;
    free(p);
    return true;
}
