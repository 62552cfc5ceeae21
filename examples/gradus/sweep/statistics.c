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

double student_t_975(int df)
{
    double low = 1.9, high = 12.8; /* between the normal distribution's and that of one degree of freedom */
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(within(middle, df) < 0.95 ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

double sample_half_width(const sample *s)
{
    if (s->n < 2)
        return NAN;
    return student_t_975(s->n - 1) * sqrt(s->squares / (s->n - 1) / s->n);
}

double share_error(double p, double n)
{
    return sqrt(p * (1 - p) / n);
}
