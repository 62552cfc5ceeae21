/*
 * buckets.h - the sum over ranks of a slab's gradients, in buckets from its end to its beginning, which is the order in
 * which a backward pass makes them. A thread of its own begins with a bucket as soon as nothing more is added to its
 * gradients:
 *
 *   backward   | last layer | layer | layer | first layer |
 *   sums                    | bucket 0 | bucket 1 | ...   | bucket n - 1 |
 *
 * That pays where bytes travel while this rank's processor does something else (gr_carrier.bucket_bytes). The cuts
 * depend on the slab alone, so ranks whose pass has more shards to come, or no samples, make the same calls behind it;
 * the bits are those of one sum.
 */
#ifndef GRADUS_BUCKETS_H
#define GRADUS_BUCKETS_H

#include "core/group/group.h"
#include "core/slab.h"
#include "core/tape.h"

typedef struct gr_buckets gr_buckets;

/* Of a slab with gradients on a CPU, and its thread. NULL: recorded. */
gr_buckets *gr__buckets_open(gr_group *g, gr_slab *slab);
void gr__buckets_close(gr_buckets *b); /* NULL is fine */

/* A pass begins: no bucket is summed yet. */
void gr__buckets_begin(gr_buckets *b);

/* What a backward pass behind which all gradients are final, up to the sum, is to be run with. */
const gr_backward_hook *gr__buckets_watch(gr_buckets *b);

/* The pass is over. Returns when all buckets are summed. False: recorded. */
bool gr__buckets_finish(gr_buckets *b);

/* Returns when the thread waits for no other rank: this one has failed, and is about to say so. NULL is fine. */
void gr__buckets_rest(gr_buckets *b);

#endif
