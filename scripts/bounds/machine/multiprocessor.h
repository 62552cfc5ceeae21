// One multiprocessor, cycle by cycle: four schedulers, the compiler's stall counts and barriers, pipes, the load-store
// unit, L1, and this multiprocessor's share of L2 and memory.
#ifndef BOUNDS_MULTIPROCESSOR_H
#define BOUNDS_MULTIPROCESSOR_H

#include "wave.h"

// Cycles that each resource was busy for what was simulated.
struct busy {
    double issue; // of one quarter, on average
    double pipes[PIPES];
    double shared;   // the load-store unit for shared memory and shuffles
    double l1;       // the same for global memory
    double l2, dram; // this multiprocessor's share
    double boxes;    // TMA, which asks for rows of boxes
};

struct simulated {
    double cycles, instructions;             // at the end
    double early_cycles, early_instructions; // behind the first part, from where the rate is taken
    bool whole;                              // all blocks ended
    double blocks;                           // that ended
    double dram_bytes;
    struct busy busy;
};

// What L2 asks memory for.
struct misses {
    double read, write;           // share of the sectors read; sectors of memory moved for each one written
    double refilled;              // sectors that come in for each that a load asks for: some were written in part
    double read_cost, write_cost; // of a byte, 1 where pages of the memory are taken whole
    bool mixed;                   // writes come between reads
};

// Runs `blocks` blocks, `resident` at a time, until all end or `most` instructions are issued.
bool run_multiprocessor(struct program *program, int resident, long blocks, double most, const struct misses *misses,
                        struct simulated *result);

#endif
