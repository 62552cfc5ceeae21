/* statistics.h - means and their 95 % intervals. */
#ifndef GRADUS_STATISTICS_H
#define GRADUS_STATISTICS_H

typedef struct {
    int n;
    double mean;
    double squares; /* sum of squared distances from the mean */
} sample;

void sample_add(sample *s, double x);

/* Half the width of the 95 % interval of the mean, by Student's t; NAN below two values. */
double sample_half_width(const sample *s);

/* The point that Student's t with df degrees of freedom stays below with probability 0.975; df at least 1. */
double student_t_975(int df);

/* Standard error of a share p counted among n: sqrt(p (1 - p) / n). */
double share_error(double p, double n);

#endif
