/*
 * ring.h - a bounded ring of slots that worker threads fill ahead of one consumer, in an order that no thread decides.
 *
 *   slots = 4, pieces = 3            consumed = 6: batches 0..5 have been handed out, batch 5 is still in use
 *
 *                slot 0       slot 1       slot 2       slot 3
 *              +------------+------------+------------+------------+
 *   batch      |     8      |     5      |     6      |     7      |
 *   pieces     | f  .  .    | f  f  f    | f  f  f    | f  f  w    |     f filled, w at work, . nobody's yet
 *   missing    | 2          | 0          | 0          | 1          |
 *              +------------+------------+------------+------------+
 *                ^ batch 8,   ^ in use     ^ next to be handed out
 *                  piece 1 is the next piece that a worker takes; batch 9 must wait for slot 1
 *
 * Batch t goes into slot t modulo the number of slots. A slot is prepared (whoever comes first, one batch after the
 * other), filled piece by piece (by any thread), handed out, and free again when the next one is asked for. So what a
 * batch holds depends on t alone.
 */
#ifndef GRADUS_RING_H
#define GRADUS_RING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct gr_ring gr_ring;

typedef struct {
    int workers, slots; /* at least 1 and 2 */
    int64_t pieces;     /* of a slot, at least 1 */
    void *user;
    void (*prepare)(void *user, int slot);             /* never two at a time; batches come in their order */
    void (*fill)(void *user, int slot, int64_t piece); /* 0 .. pieces-1, several at a time */
} gr_ring_job;

/* Starts the workers. NULL: the system gives no more memory or threads. */
gr_ring *gr__ring_open(const gr_ring_job *job);

/* The slot of the next batch, once it is full. The one before is filled anew from now on. */
int gr__ring_next(gr_ring *ring);

/* Stops the workers, each at the end of its piece, and waits for them. NULL is fine. */
void gr__ring_close(gr_ring *ring);

#endif
