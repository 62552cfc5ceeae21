// Atomics that meet: L2 does those on one word one after the other, and those of sectors that lie close together.
#ifndef BOUNDS_CONTENTION_H
#define BOUNDS_CONTENTION_H

#include "cache.h"
#include "program.h"
#include "warp.h"

enum { PLACES = 4096, KILOBYTE = 1024 };

// A place that many atomics go to, and their cycles. Of places that share an entry the busiest keeps it, and has what
// it is ahead of the others.
struct place {
    uint64_t number;
    double cycles;
};

struct contention {
    struct place words[PLACES], kilobytes[PLACES], swaps[PLACES];
};

// Counts an atomic of a warp, whose lanes' sectors are `request`.
void count_atomics(struct contention *contention, const struct chip *chip, const struct step *step,
                   const struct request *request);

// Cycles of the busiest place.
double busiest(const struct place places[PLACES]);

#endif
