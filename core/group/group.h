/*
 * group.h - ranks that train together: who they are, and what they tell each other. Each rank has a context and a
 * thread (or process) of its own; a group is what connects it with the others. All ranks make the same calls in the
 * same order.
 *
 * How bytes get from one rank to another is a carrier's business, which is one function: an exchange with one other
 * rank. Threads of one process are here; `gradus train` brings MPI; a program may bring what it likes.
 *
 * Errors stick, as in a context: the first is kept, every call after it returns false at once, and the other ranks get
 * to know of it.
 */
#ifndef GRADUS_GROUP_H
#define GRADUS_GROUP_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gr_group gr_group;

enum { GR_MAX_RANKS = 256 };

/*
 * Groups for so many threads of this process, a power of two, one for each into members. A rank that lets the others
 * wait for longer than patience seconds (0: 10) is named, and all end. False: no memory, or another number.
 */
bool gr_group_threads(int ranks, double patience, gr_group *members[]);

/* What carries bytes from one rank to another. */
typedef struct {
    /*
     * Sends to a peer and receives from it, at once; either may be 0 bytes. False: why[size] says who is to blame.
     * The peer's calls pair with these, one to one and in order.
     */
    bool (*exchange)(void *user, int peer, const void *send, size_t send_bytes, void *receive, size_t receive_bytes,
                     char *why, size_t size);
    /* This rank has ended, and says why: the others' exchanges are to fail with it. */
    void (*fail)(void *user, const char *why);
    void (*close)(void *user);
    /*
     * Asked again and again while this rank waits for its own device (peer -1), for a peer's, or for those of others
     * (peer: its own number), the latter two for so many seconds. False: a rank has ended, or is waited for too long,
     * and why[size] says which. May be NULL.
     */
    bool (*look)(void *user, int peer, double seconds, char *why, size_t size);
    double patience; /* seconds that a device may wait for those of other ranks where look is NULL; 0: 10 */
    /*
     * Above 0: bytes travel while a rank's processor does something else, so gr_fit sums gradients in buckets of at
     * least so many, which begin within the backward pass, in a thread of their own; exchange is called from there
     * then, from one thread at a time. All ranks have the same. 0: one sum behind the pass.
     */
    int64_t bucket_bytes;
} gr_carrier;

/* One rank of so many, a power of two, over a carrier. NULL: no memory, wrong numbers; the carrier is not closed. */
gr_group *gr_group_open(int rank, int ranks, const gr_carrier *carrier, void *user);

/* Leaves the group: who still waits for this rank is told. NULL is fine. */
void gr_group_close(gr_group *g);

int gr_group_rank(const gr_group *g);          /* from 0; 0 for NULL, a rank on its own */
int gr_group_size(const gr_group *g);          /* 1 for NULL */
bool gr_group_ok(const gr_group *g);           /* true for NULL */
const char *gr_group_error(const gr_group *g); /* which rank has ended it, and why; "" while all is well */

/* Ends the group: every rank's next call fails with "rank R has ended: why". */
void gr_group_fail(gr_group *g, const char *why);

/* Rank 0's bytes to all. */
bool gr_group_broadcast(gr_group *g, void *data, size_t bytes);

/* Bytes of every rank to all: all[ranks * bytes], in the order of ranks. */
bool gr_group_gather(gr_group *g, const void *own, size_t bytes, void *all);

/* Returns when all ranks have called it. */
bool gr_group_barrier(gr_group *g);

/* Whether any rank says so; the same answer for all. */
bool gr_group_any(gr_group *g, bool own);

/*
 * The sum over ranks of a real tensor, element by element, into it, by the binary tree that has ranks 0 and 1, 2 and 3,
 * ... side by side: the same bits on every rank. Every rank sends each element about twice, however many ranks there
 * are. False: recorded in t's context. Between GPUs it goes by NCCL where gr_fit finds that, else through the host's
 * memory; the bits are the same, as NCCL carries elements and adds none.
 */
bool gr_group_sum(gr_group *g, gr_tensor *t);

#ifdef __cplusplus
}
#endif
#endif
