/*
 * score.h - the sums of a pass over batches, kept on the device: of losses and of counts. The host reads them when
 * somebody asks, and so need not wait for every update.
 */
#ifndef GRADUS_SCORE_H
#define GRADUS_SCORE_H

#include "core/context.h"

typedef struct {
    gr_tensor *total; /* real [1+counts,2], see kernels/ops/tally.c */
    int64_t counts;
    void *raw;    /* host: of total */
    double *sums; /* [1+counts] as last read: of loss times weight, then of each count */
} gr_score;

/* Sums from 0 of a loss and so many counts. False: recorded; gr__score_close is due all the same. */
bool gr__score_open(gr_context *ctx, gr_score *score, int64_t counts);
void gr__score_close(gr_context *ctx, gr_score *score);

/* From 0 again. */
bool gr__score_clear(gr_score *score);

/* Brings sums up to date: waits for the device. False: recorded. */
bool gr__score_read(gr_score *score);

#endif
