/*
 * workers.h - threads for reading and drawing images: the device's own where it has some, else a pool for the occasion
 * (the ref device computes in one thread, but its images need not wait for that).
 */
#ifndef GRADUS_WORKERS_H
#define GRADUS_WORKERS_H

#include "core/context.h"
#include "core/parallel.h"

typedef struct {
    gr_exec exec;    /* for gr_parallel_for */
    gr_pool *opened; /* NULL: borrowed */
} gr_workers;

/* False: recorded. */
bool gr__workers_open(gr_context *ctx, gr_workers *workers);
void gr__workers_close(gr_workers *workers);

#endif
