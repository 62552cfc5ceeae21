// A warp that executes what its addresses and branches need.
#ifndef BOUNDS_WARP_H
#define BOUNDS_WARP_H

#include "boxes.h"
#include "phases.h"
#include "stored.h"

enum { LOCAL_BYTES = 16384 }; // of a lane's stack

struct block {
    int position[3];
    uint8_t *shared; // launch.shared bytes; NULL where no address depends on them
    int warps_alive, warps_waiting;
    int at_named[NAMED_BARRIERS]; // warps that have come to a barrier for some of them
    struct phases phases;
    struct stored stored;
};

struct warp {
    const struct program *program;
    struct block *block;
    uint32_t (*registers)[LANES];
    uint32_t predicates[PREDICATES];
    uint32_t alive;     // lanes that have not ended
    int lane_at[LANES]; // instruction of each lane, where they differ
    int at;             // instruction of all lanes, where they do not
    bool parted;
    int first_thread;
    uint8_t *local; // stack of each lane; NULL where no address depends on it
    int asked;      // how often for what other blocks have left
};

struct step {
    const struct instruction *instruction;
    uint32_t lanes;          // that execute it
    uint64_t address[LANES]; // of a memory access
    uint64_t target[LANES];  // of an asynchronous copy: where in shared memory
    uint32_t value[LANES];   // what an arrival tells of: bytes to come; what a barrier begins with: its arrivals
    struct box box;          // that TMA is told to move
};

// A warp of a block at its first instruction. `registers` has room for REGISTERS rows and is zeroed by the caller.
void start_warp(struct warp *warp, const struct program *program, struct block *block, int number);

// The instruction that comes next, without executing it; NULL at the end.
const struct instruction *next_instruction(struct warp *warp);

// Executes one instruction. False where one is not understood: then `error` says which.
bool step_warp(struct warp *warp, struct step *step, char *error, size_t room);

// The lanes at the lowest instruction, which come next, and that instruction in warp->at.
uint32_t lanes_now(struct warp *warp);

// What a place in memory is of each lane; wide: 64 bits.
void read_addresses(const struct warp *warp, const struct operand *operand, bool wide, uint64_t to[LANES]);

bool warp_ended(const struct warp *warp);

#endif
