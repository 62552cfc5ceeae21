/* statistics.c - see statistics.h. */
#include "sweep/statistics.h"

#include <math.h>

/* Welford 1962: the mean and the sum of squared distances from it, without the cancellation of sums of squares. */
void sample_add(sample *s, double x)
{
    s->n++;
    double before = x - s->mean;
    s->mean += before / s->n;
    s->squares += before * (x - s->mean);
}

double sample_deviation(const sample *s)
{
    return s->n < 2 ? NAN : sqrt(s->squares / (s->n - 1));
}

/*
 * P(|T| < t) for whole degrees of freedom; Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and
 * 26.7.4.
 */
static double within(double t, int df)
{
    const double half_pi = acos(0);
    double angle = atan(t / sqrt(df)), c = cos(angle), term = df % 2 ? c : 1, sum = 0;
    for (int k = df % 2 ? 3 : 2; k <= df; k += 2) {
        sum += term;
        term *= c * c * (k - 1) / k;
    }
    return df % 2 ? (angle + sin(angle) * sum) / half_pi : sin(angle) * sum;
}

double student_t_beyond(double t, int df)
{
    return fmax(0, 1 - within(t, df));
}

/* The t between low and high for which P(|T| < t) is share. */
static double quantile(double share, int df, double low, double high)
{
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(within(middle, df) < share ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

double student_t_975(int df)
{
    return quantile(0.95, df, 1.9, 12.8); /* between the normal distribution's and that of one degree of freedom */
}

double sample_half_width(const sample *s)
{
    if (s->n < 2)
        return NAN;
    return student_t_975(s->n - 1) * sqrt(s->squares / (s->n - 1) / s->n);
}

double sample_p(const sample *s)
{
    if (s->n < 2)
        return NAN;
    if (s->mean == 0) /* also where all are 0 */
        return 1;
    return s->squares > 0 ? student_t_beyond(fabs(s->mean) / sqrt(s->squares / (s->n - 1) / s->n), s->n - 1) : 0;
}

/* Place of p[i] among those that are known, by size, equal ones in their order. */
static int rank_of(const double *p, int n, int i)
{
    int before = 0;
    for (int j = 0; j < n; j++)
        before += p[j] < p[i] || (p[j] == p[i] && j < i);
    return before;
}

void holm(const double *p, double *corrected, int n)
{
    int known = 0;
    for (int i = 0; i < n; i++)
        known += !isnan(p[i]);
    for (int i = 0; i < n; i++) {
        const int rank = rank_of(p, n, i);
        corrected[i] = isnan(p[i]) ? NAN : 0;
        for (int j = 0; j < n && !isnan(p[i]); j++) { /* never below that of a smaller one */
            const int other = rank_of(p, n, j);
            if (!isnan(p[j]) && other <= rank)
                corrected[i] = fmax(corrected[i], fmin(1, (known - other) * p[j]));
        }
    }
}

int values_needed(double deviation, double difference)
{
    enum { NORMAL = 1000, MOST = 1000000 }; /* beyond the first Student's t is the normal distribution */
    if (!(deviation > 0) || !(difference > 0))
        return 2;
    const double ratio = deviation / difference, normal = pow((1.959964 + 0.841621) * ratio, 2);
    if (normal > NORMAL)
        return normal < MOST ? (int)ceil(normal) : MOST;
    for (int n = normal > 2 ? (int)normal : 2;; n++) {
        const double reach = (student_t_975(n - 1) + quantile(0.6, n - 1, 0.8, 1.4)) * ratio; /* P(T < t) = 0.8 */
        if (n >= reach * reach)
            return n;
    }
}

double share_error(double p, double n)
{
    return sqrt(p * (1 - p) / n);
}
