// Barriers in a block's shared memory (mbarrier): which phase each is in, and when the phases before it were over.
#ifndef BOUNDS_PHASES_H
#define BOUNDS_PHASES_H

#include "boxes.h"

enum { PHASE_BARRIERS = 64 };

struct phase_barrier {
    uint64_t address;
    int arrivals, pending; // of a phase; that are still to come
    int64_t bytes;         // that copies are still to bring
    unsigned phase;        // the phase that is under way, from 0 on
    double latest;         // when what has come of it was there
    double over[2];        // when the last phase of each parity was
    struct box unsized; // ordered before the barrier was told of bytes, of a map that nobody knows; dimensions 0: none
};

struct phases {
    struct phase_barrier at[PHASE_BARRIERS];
    int count;
};

// A barrier by its address, or NULL where nobody has initialised it.
struct phase_barrier *find_phases(struct phases *phases, uint64_t address);

// A barrier of so many arrivals begins anew. False: there are too many.
bool begin_phases(struct phases *phases, uint64_t address, int arrivals);

// So many arrivals are there at `when`, and tell of bytes to come, or of bytes that have come where that is negative.
// True: this ended the phase.
bool count_phase(struct phase_barrier *barrier, int arrivals, int64_t bytes, double when);

// Whether the last phase of a parity is over.
bool phase_is_over(const struct phase_barrier *barrier, int parity);

#endif
