/*
 * prefetch.h - batches on the host, in the order of a sampler: filled by workers into a ring, ahead of whoever takes
 * them, or piece by piece by the context's threads when they are asked for.
 *
 *   no workers     sampler --picks--> slots[0] <--fill, all threads-- pictures        filled when it is asked for
 *
 *   workers        sampler --picks--> slots[0] slots[1] slots[2] <--fill, one piece a worker-- pictures
 *                                     ^ in use ^ full   ^ being filled
 *
 * What is in a batch is decided before anyone fills it, so it is the same either way.
 */
#ifndef GRADUS_PREFETCH_H
#define GRADUS_PREFETCH_H

#include "data/loading/ring.h"
#include "data/loading/sampler.h"

typedef struct {
    const gr_dataset *set;
    gr_sampler sampler;
    gr_host_batch_options batch_options;
    int n_slots;
    gr_host_batch *slots; /* [n_slots]; the first alone without a ring */
    int64_t rows;         /* that a thread fills at a time */
    int workers;
    gr_ring *ring;                   /* NULL: no workers, one slot */
    _Atomic int64_t making, reading; /* nanoseconds of all threads, see gr_loader_time */
    struct gr_filling *fillings;     /* [n_slots][fillings_each] with a ring: when each piece was filled, and by whom */
    int64_t fillings_each;
} gr_prefetch;

/*
 * Makes the slots: all of a batch's rows that are this rank's where workers fill them, else pieces. Where the device's
 * memory is the host's and no workers run ahead pictures are gathered straight into the batch on the device:
 * batch_options.in_place says so, and the caller sets slots[0].pixels. False: recorded; gr__prefetch_close is due all
 * the same.
 */
bool gr__prefetch_open(gr_prefetch *p, const gr_dataset *set, const gr_loader_options *options);
void gr__prefetch_close(gr_prefetch *p);

/* Starts the workers, if there are to be some. From here on p must stay where it is. False: recorded. */
bool gr__prefetch_start(gr_prefetch *p);

/* The next batch: full where workers fill it, else still to be filled. The one before is filled anew from now on. */
gr_host_batch *gr__prefetch_next(gr_prefetch *p);

/* Tells the trace how the workers have filled a batch that gr__prefetch_next has given. */
void gr__prefetch_trace(const gr_prefetch *p, const gr_host_batch *b);

/* Without workers: fills rows of the batch under way, from row first on. */
void gr__prefetch_fill(gr_prefetch *p, int64_t first, int64_t rows);

#endif
