/* statistics.h - means and their 95 % intervals, and what several comparisons together may claim. */
#ifndef GRADUS_STATISTICS_H
#define GRADUS_STATISTICS_H

typedef struct {
    int n;
    double mean;
    double squares; /* sum of squared distances from the mean */
} sample;

void sample_add(sample *s, double x);

/* Standard deviation, by n - 1; NAN below two values. */
double sample_deviation(const sample *s);

/* Half the width of the 95 % interval of the mean, by Student's t; NAN below two values. */
double sample_half_width(const sample *s);

/* Probability of a mean at least as far from 0 where the true one is 0, by Student's t; NAN below two values. */
double sample_p(const sample *s);

/* The point that Student's t with df degrees of freedom, at least 1, stays below with probability 0.975. */
double student_t_975(int df);

/* Probability that |T| is at least t. */
double student_t_beyond(double t, int df);

/*
 * Holm's correction (1979): the probabilities p of n comparisons become such that calling those below 0.05 different is
 * wrong about any of them at most once in twenty times. NANs stay and are not counted.
 */
void holm(const double *p, double *corrected, int n);

/*
 * Values that it takes to tell a mean of difference from 0 four times in five, at 5 %, where they deviate so; at most
 * 1,000,000. By the quantiles of Student's t: n >= ((t(0.975) + t(0.8)) deviation / difference)^2.
 */
int values_needed(double deviation, double difference);

/* Standard error of a share p counted among n: sqrt(p (1 - p) / n). */
double share_error(double p, double n);

#endif
