/*
 * bench_scaling_model.h - what an update takes by so many ranks:
 *
 *   compute + sum    sum = 2 lg R latency + 2 (R - 1) / R bytes / bandwidth
 *
 * which is an all-reduce by halving and doubling, as gr_group_sum makes it (Thakur, Rabenseifner and Gropp 2005,
 * Optimization of Collective Communication Operations in MPICH, section 4.5, without the time of the additions).
 */
#ifndef GRADUS_BENCH_SCALING_MODEL_H
#define GRADUS_BENCH_SCALING_MODEL_H

#include <stdint.h>

/* What connects two ranks. */
typedef struct {
    const char *name;
    double latency;   /* seconds of a message */
    double bandwidth; /* bytes/s each way */
    const char *source;
} scaling_link;

/* Links of machines, a name NULL behind the last. */
extern const scaling_link scaling_links[];

/* Seconds of a sum of so many bytes over ranks, a power of two. */
double scaling_sum(const scaling_link *link, int64_t ranks, double bytes);

/* A link by its sums between two ranks: of next to nothing, and of so many bytes. */
scaling_link scaling_link_of(double small, double large, double bytes);

#endif
