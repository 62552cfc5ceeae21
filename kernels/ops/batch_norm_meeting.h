/*
 * batch_norm_meeting.h - batch normalisation by the statistics of all shards of a batch, each a rank's (synchronised
 * batch normalisation). Made of the operation's own kernels with given statistics, and two meetings of the ranks:
 *
 *   forward    own n, m, v -> all ranks' -> M = sum n m / N, V = sum n (v + (m - M)^2) / N -> y by M and V
 *   backward   dX = gamma s dz by M and V; own sums of dz and dz h -> all ranks' Sb, Sg
 *              dX += -gamma s Sb / N - gamma s h Sg / N, which is a batch normalisation of x by M and V, with scale
 *              -gamma s Sg / N and shift -gamma s Sb / N, added to dX
 *
 * Sums over ranks are in double, in the order of the ranks. dgamma and dbeta stay the shard's own.
 */
#ifndef GRADUS_BATCH_NORM_MEETING_H
#define GRADUS_BATCH_NORM_MEETING_H

#include "core/tape.h"

/*
 * The statistics of x over all ranks into the call's outputs for them, [C] each, and how many values each is of into
 * the context's meeting. False: recorded. A dry run meets nobody.
 */
bool gr__batch_norm_meet(gr_build *b);

/* gr_node.backward of such a call. */
bool gr__batch_norm_meet_backward(gr_node *node, gr_call *call);

#endif
