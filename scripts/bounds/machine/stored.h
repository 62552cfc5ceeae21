// What of a block's shared memory has been written and not yet been sent away. TMA is not told how many bytes a box has
// that leaves; its map says so, which nobody may know.
#ifndef BOUNDS_STORED_H
#define BOUNDS_STORED_H

#include <stdbool.h>
#include <stdint.h>

struct stored {
    uint64_t *words; // a bit for each; NULL: nobody asks
    int64_t count;   // of words
    bool sent;       // some of them were, before
};

// Bytes of the bits for so much shared memory.
int64_t stored_bytes(int64_t shared);

// None of them written, by zeros that the caller has, or NULL.
struct stored nothing_stored(void *zeros, int64_t shared);

void mark_stored(struct stored *stored, uint64_t address, int64_t bytes);

// How many bytes have been written side by side from an address on. They count as sent from now on.
int64_t send_stored(struct stored *stored, uint64_t address);

#endif
