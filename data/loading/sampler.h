/*
 * sampler.h - which samples are in the next batch: the order of an epoch, and what becomes of its last batch.
 */
#ifndef GRADUS_SAMPLER_H
#define GRADUS_SAMPLER_H

#include "data/loading/host_batch.h"

typedef struct {
    const gr_dataset *set;
    int64_t batch; /* samples in a full batch */
    bool shuffled;
    gr_last_batch last;
    int shards, rank, ranks;
    int64_t first;    /* the first epoch of this run, from 0, */
    int64_t skip;     /* of which so many batches are left out */
    int64_t *order;   /* [n] of the epoch that is being dealt out */
    int64_t epoch;    /* that epoch; below first: none yet */
    int64_t position; /* samples of it already dealt out */
} gr_sampler;

/* False: recorded; gr__sampler_close is due all the same. */
bool gr__sampler_open(gr_sampler *s, const gr_dataset *set, const gr_loader_options *options);
void gr__sampler_close(gr_sampler *s);

/* Batches of an epoch. */
int64_t gr__sampler_batches(const gr_sampler *s);

/* Writes down in b which samples the next batch holds; behind the last one comes what fills up. */
void gr__sampler_next(gr_sampler *s, gr_host_batch *b);

#endif
