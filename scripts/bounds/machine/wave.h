// The blocks that all multiprocessors hold at once, executed for their addresses.
#ifndef BOUNDS_WAVE_H
#define BOUNDS_WAVE_H

#include "program.h"

// Bytes that went through for the first time, and the memory's pages that they lie in.
struct spread {
    double bytes, pages;
};

struct traffic {
    struct spread reads, writes;
    double l2_reads, l2_writes;          // sectors that reached L2
    double dram_reads, dram_writes;      // sectors that went to memory
    double l2_missed;                    // of those read, what loads and boxes asked for
    double footprint;                    // bytes of distinct lines that the wave touched
    double executed, fraction;           // warp instructions; share of the wave's work that they are
    double word_cycles, kilobyte_cycles; // of L2 for the atomics of the busiest word, and of the busiest kilobyte
    double swaps;                        // compare-and-swaps on one word, of the executed ones
};

enum { PAGE = 1024 }; // bytes of a page of HBM2: JESD235, pseudo channels

// How many blocks one multiprocessor holds, by warps, blocks, registers and shared memory; 0: none fits.
int resident_blocks(const struct program *program);

// Bytes of L1 that are left beside the shared memory of so many blocks.
double l1_beside(const struct program *program, int blocks);

// Warp instructions of one block, executed from end to end. Negative: program->error says why.
double block_instructions(struct program *program, int number);

// False: program->error says why.
bool run_wave(struct program *program, int resident, double most, double whole_block, struct traffic *traffic);

#endif
