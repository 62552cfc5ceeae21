/* part.h - sums over ranks of parts of a tensor that lies on the host. */
#ifndef GRADUS_PART_H
#define GRADUS_PART_H

#include "core/group/group.h"

/* The carrier's; 0 for NULL. */
int64_t gr__group_bucket_bytes(const gr_group *g);

/* Room for parts of up to count real elements. False: recorded. */
bool gr__group_room(gr_group *g, gr_context *ctx, int64_t count);

/*
 * gr_group_sum of elements lo to hi - 1 alone, which the calling thread adds in its own mode; whichever it is, and no
 * other one of the rank meanwhile. False: the group has ended, which the context is not told.
 */
bool gr__group_sum_part(gr_group *g, gr_tensor *t, int64_t lo, int64_t hi);

#endif
