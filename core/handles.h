/*
 * handles.h - where tensors' headers lie: at addresses that are never given out twice.
 *
 * A program holds a tensor by the address of its header. Were that memory used again, a handle kept for too long would
 * silently name a newer tensor, or nothing. So only memory comes back, addresses do not: headers are taken from the
 * front of a large stretch of reserved addresses, a dead one is zeroed, and windows in which all are dead go back to
 * the system and read as zeros from then on. Whoever is handed a header without a context knows that it is dead, and
 * finds the context at the start of the stretch.
 *
 *   region: 1 GiB of addresses, of which the process holds what is alive
 *   +--------+-----------------+-----------------+------------------+-------------------------------+
 *   | root:  | window: all     | window: some    | window: some     | windows: reserved,            |
 *   | ctx    | dead, zeros     | alive           | alive, next here | never touched                 |
 *   +--------+-----------------+-----------------+------------------+-------------------------------+
 *
 * In the steady state this allocates nothing: two system calls for each window, of some 4800 headers.
 */
#ifndef GRADUS_HANDLES_H
#define GRADUS_HANDLES_H

#include "core/tensor.h"

typedef struct gr_region gr_region;

/* Zero is an empty one. */
typedef struct {
    gr_region *newest; /* where the next header is taken; the others hang behind it */
    int64_t next;      /* headers taken from it so far */
} gr_handles;

/* A header, zeroed, at an address of its own. NULL: recorded. */
gr_tensor *gr__handle_new(gr_context *ctx, gr_handles *h);

/* The header is dead: all zero for as long as its context lives. */
void gr__handle_free(gr_handles *h, gr_tensor *t);

/* Gives all addresses back. */
void gr__handles_close(gr_handles *h);

/* The context that a header, dead or alive, was made for. */
gr_context *gr__handle_context(const gr_tensor *t);

/*
 * Whether t is there to be used by the function named. False for NULL; false, and recorded, for a tensor whose step is
 * over or whose owner has been closed.
 */
bool gr__alive(const gr_tensor *t, const char *function);

#endif
