/*
 * meeting.h - where the shards of a batch, each a rank's, tell each other numbers within a pass: statistics of batch
 * normalisation that are to be those of the whole batch.
 *
 *   rank 0   conv  | meet  ...  | meet  loss | meet  ...  | over
 *   rank 1   conv  | meet  ...  | meet  loss | meet  ...  | over
 *   rank 2   (no samples)  attends ............................     is told how much, and that the pass is over
 */
#ifndef GRADUS_MEETING_H
#define GRADUS_MEETING_H

#include "core/group/group.h"

typedef struct gr_meeting {
    gr_group *group; /* of as many ranks as there are shards */
    int absent;      /* ranks whose shard of this batch has no samples: the last ones */
    double *room;    /* [1 + ranks][capacity]: what this rank tells, then what all have told */
    int64_t capacity;
    int64_t values; /* of the last batch normalisation: how many of a channel it is of, in all shards */
} gr_meeting;

void gr__meeting_close(gr_meeting *m);

/* Room for count numbers that this rank is to tell. NULL: recorded. */
double *gr__meeting_own(gr_meeting *m, gr_context *ctx, int64_t count);

/*
 * Tells them to all. Returns [ranks][count], by rank; zeros of those without samples; good until the next
 * gr__meeting_own. NULL: recorded.
 */
const double *gr__meet(gr_meeting *m, gr_context *ctx, int64_t count);

/* The pass is over: those without samples may go. False: recorded. */
bool gr__meeting_over(gr_meeting *m, gr_context *ctx);

/* What a rank without samples does in place of a pass: tells zeros until the pass is over. False: recorded. */
bool gr__meeting_attend(gr_meeting *m, gr_context *ctx);

#endif
