/*
 * lent.h - step memory from a program's own allocator (gr_allocator), in place of the planned arena: what it has lent
 * and not been given back yet. A block's offset is then the number of its loan.
 */
#ifndef GRADUS_LENT_H
#define GRADUS_LENT_H

#include "core/arena.h"
#include "core/core.h"

typedef struct {
    void *address; /* NULL: given back */
    size_t bytes;
} gr_loan;

typedef struct {
    const gr_allocator *from; /* NULL: none, the arena serves */
    gr_loan *loans;           /* of this step, in order */
    int n, capacity;
    int64_t bytes, peak, most; /* lent: now, at most within this step, at most since gr__lent_take_most */
} gr_lent;

/* Takes bytes, rounded up as the arena rounds them. False: there is no more, or none for the bookkeeping. */
bool gr__lent_take(gr_lent *l, size_t bytes, gr_block *block, void **address);
void gr__lent_give(gr_lent *l, const gr_block *block);

/* Gives back what is left of a step, and tells the allocator that the step has ended. */
void gr__lent_end(gr_lent *l);
void gr__lent_close(gr_lent *l);

int64_t gr__lent_take_most(gr_lent *l);

#endif
