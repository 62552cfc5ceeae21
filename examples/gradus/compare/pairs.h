/*
 * pairs.h - two sets of runs against each other. A run of one is paired with the run of the other that has its batch
 * size and its seed, so that both began with the same weights and saw the same order. Runs that share a seed are not
 * independent: the differences of a seed are averaged over the batch sizes first, and seeds are what is counted.
 */
#ifndef GRADUS_PAIRS_H
#define GRADUS_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "sweep/statistics.h"

typedef struct {
    int64_t seed, batch;
    double difference;
} pair;

typedef struct {
    sample differences; /* one for each seed: the mean over its batch sizes */
    int batches;        /* that every one of these seeds has */
    int left_out;       /* seeds that lack a batch size which others have */
} paired;

/* pairs[n] in any order, each seed and batch size once; they are sorted. */
paired pairs_compare(pair *pairs, int n);

#endif
