/*
 * readings.h - what the host knows of a run's training: the device sums losses and right answers, the host reads the
 * sums now and then, and a run that has gone bad is found at such a reading.
 */
#ifndef GRADUS_READINGS_H
#define GRADUS_READINGS_H

#include "optim/optim.h"
#include "optim/training/score.h"

/* Where the sums of training stood, and how many samples had gone into them. */
typedef struct {
    double loss, correct;
    double with_loss; /* samples in the first sum: those of updates whose loss is a number */
    int64_t samples;
} gr_reading;

typedef struct {
    gr_context *ctx;
    const gr_fit_options *o;
    gr_score score; /* the loss, right answers, under a loss scale also the samples whose loss is a number */
    gr_reading last;
    double seconds;  /* on the clock, when last was read */
    int64_t skipped; /* updates that had been skipped before the run */
    bool stuck;      /* the loss scale is */
} gr_readings;

/* False: recorded; gr__readings_close is due all the same. */
bool gr__readings_open(gr_readings *r, gr_context *ctx, const gr_fit_options *o);
void gr__readings_close(gr_readings *r);

/* Whether an update is one after which a loss gone bad ends the run, one after which the sums are read. */
bool gr__check_due(const gr_readings *r, const gr_progress *p);
bool gr__reading_due(const gr_readings *r, const gr_progress *p);

/* Waits for the device and tells p how training went since the last reading. */
void gr__readings_read(gr_readings *r, gr_progress *p);

/* Fails where the sum that was read is not finite: a sum never becomes finite again. */
void gr__readings_check(const gr_readings *r, const gr_progress *p);

/* Means over the samples between two readings. */
void gr__reading_means(const gr_reading *from, const gr_reading *to, double *loss, double *accuracy);

#endif
