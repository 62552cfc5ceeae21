// A kernel's machine code as cuobjdump lists it, its launch, and the chip it is told for.
#ifndef BOUNDS_PROGRAM_H
#define BOUNDS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { LANES = 32, MAX_OPERANDS = 10, BARRIERS = 6, BANKS = 2, GROUP_WARPS = 4, MAP_RANK = 5, MAPS = 8 };
enum { NAMED_BARRIERS = 16, WHOLE_BLOCK = NAMED_BARRIERS + 1 };
enum { CONSTANT_BANKS = 4, CONSTANT_WORDS = 0x4000 };

// Registers of a warp and uniform registers in one numbering: R0..R254, RZ = 255, UR0 = 256.., URZ = 383. Uniform
// registers are kept once a lane, so that one piece of code executes both kinds.
enum { RZ = 255, UNIFORM = 256, URZ = 383, REGISTERS = 384 };
// Predicates P0..P6, PT = 7, UP0 = 8.., UPT = 15.
enum { PT = 7, UNIFORM_PREDICATE = 8, UPT = 15, PREDICATES = 16 };

enum operand_kind { NOTHING, REGISTER, PREDICATE, IMMEDIATE, CONSTANT, SPECIAL, ADDRESS, OTHER };

struct operand {
    enum operand_kind kind;
    bool negative, absolute, inverted, reuse, wide; // -x, |x|, !p or ~x, kept in the operand cache, .64
    short index;                                    // register or predicate; of an address: its register or RZ
    short uniform;                                  // of an address or constant: uniform register added, or URZ
    short half;                                     // .H0_H0: 1, .H1_H1: 2, else 0; of an address: scale
    int bank;                                       // of a constant
    int64_t value;                                  // immediate, offset of a constant or an address
    char text[20];                                  // special register, or what is not understood
};

enum pipe {
    PIPE_NONE,
    PIPE_FMA,
    PIPE_FMA_HEAVY,
    PIPE_ALU,
    PIPE_HALF,
    PIPE_DOUBLE,
    PIPE_SPECIAL,
    PIPE_CONVERT,
    PIPE_TENSOR,
    PIPE_UNIFORM,
    PIPE_BRANCH,
    PIPE_MEMORY,
    PIPES
};

enum space { SPACE_NONE, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONSTANT, SPACE_SHUFFLE, SPACE_PHASE };

// What is done to a barrier in shared memory (mbarrier): initialised, arrived at, asked whether a phase is over.
enum phase_step { PHASE_NONE, PHASE_BEGIN, PHASE_ARRIVE, PHASE_TEST };

struct instruction {
    uint32_t address;
    char name[48]; // with all suffixes: LDG.E.128
    char base[16]; // up to the first dot
    int operation; // of execute.c: 0 until it is looked up, -1 where there is none
    short guard;   // predicate that must hold
    bool guard_inverted;
    struct operand operands[MAX_OPERANDS];
    int count, results;   // operands, the first of which are written
    int result_registers; // 32-bit registers from the first written one on
    enum pipe pipe;
    enum space space;
    bool load, store, atomic, asynchronous; // asynchronous: global to shared memory without registers
    int bytes;                              // a lane moves
    int stall;                              // cycles until the warp may issue again
    int write_barrier, read_barrier;        // 0..5, or -1
    int wait;                               // barriers that must be free, one bit each
    double tensor_work;                     // multiply-adds of a matrix instruction, of one warp
    double operand_bytes;                   // that it reads from shared memory: a warp's share of what four warps read
    bool barrier;                           // waits for the other warps of the block, or for as many as a barrier has
    int barrier_at;                         // 0: none, WHOLE_BLOCK, or 1 + the number of one for so many warps
    int barrier_warps;
    bool copies_group, copies_wait;     // ends a group of asynchronous copies, waits for groups
    bool pairs;                         // works on 64-bit integers, each in two registers: IADD.64
    bool adds;                          // integers, where they may take the pipe of multiply-adds
    bool products;                      // of four warps, asynchronous: HGMMA
    bool products_group, products_wait; // ends a group of those, waits for groups
    enum phase_step phase;              // of a barrier in shared memory
    int dimensions;                     // of a box that it tells TMA to move: UTMALDG, UTMASTG; else 0
    bool run;                           // of bytes side by side, a box without a map, of one dimension: UBLKCP
    bool leaves;                        // goes from shared memory to global memory: UTMASTG, UBLKCP.G.S
    bool needed;                        // for an address or a branch
    int reads;                          // registers that come from their banks
    double loads, missed;               // in the wave: how often it read, and sectors that came from memory
};

struct chip {
    int architecture;                                      // 75, 80, 86, 90, ...
    int multiprocessors, warps, blocks, registers, shared; // of one multiprocessor, at most
    int shared_block_reserved;                             // bytes that the system takes of each block
    double clock, busy_clock;                              // GHz; the latter where it multiplies most of the time
    double dram, dram_read, dram_mixed; // GB/s, and what of it is reached by reads alone and with writes
    double dram_page;                   // bytes that could move while the memory opens a page
    double l2_bytes, l2_port;           // bytes; bytes a cycle to a multiprocessor
    double l2_read;                     // bytes a cycle that all of them read; 0: as many as they take
    double l2_boxes;                    // the same by TMA
    double box_row;                     // cycles of TMA for a row of a box, for each of its dimensions
    double l1_bytes;                    // L1 and shared memory together
    double l2_slices;                   // bytes a cycle of all of its slices; 0: nobody says
    double partial_bytes;               // of these, what lanes' store of a part of a sector takes
    double atomic_float;                // cycles of L2 from a float that is added to a word to the next one
    double atomic_sector;               // cycles for each sector of atomics that lie in one kilobyte
    int lanes_fma, lanes_heavy, lanes_alu, lanes_half, lanes_special, lanes_convert; // a quarter
    double lanes_double;                                                             // a quarter
    int lanes_add;               // of the pipe of multiply-adds that also add integers; 0: integers have their own
    double tensor, tensor_f32;   // fp16 multiply-adds a cycle and quarter, summed in fp16 and in fp32
    double tensor_warp;          // the share of them that products of one warp reach; 0: all
    int lsu_lanes, shared_width; // lanes and bytes a cycle of the load-store unit
    int reading_lanes;           // that it takes of those which read global memory
    int latency_shared, latency_l1, latency_l2, latency_dram; // cycles
    int launch_block;     // cycles from a block's end to the next one's first instruction
    double launch_kernel; // microseconds
};

struct launch {
    int grid[3], block[3];
    int registers, shared; // a thread, a block
    int touched;           // bytes of shared memory up to the last that a block was seen to touch
    uint32_t data;         // what loads of global memory find
    int drawn;             // not 0: they find bytes as if drawn instead
    int empty;             // not 0: caches hold nothing before the launch
};

// A tensor as a kernel's parameter tells TMA of it, outermost dimension first; those that it has not got are 1.
struct tensor_map {
    uint64_t address, tensor; // of the map, of what it is a map of
    int element;              // bytes
    int64_t size[MAP_RANK];
    int box[MAP_RANK], every[MAP_RANK]; // a copy brings so many, one of every so many
};

struct program {
    struct chip chip;
    struct launch launch;
    uint32_t constants[CONSTANT_BANKS][CONSTANT_WORDS];
    struct tensor_map maps[MAPS];
    int map_count;
    struct instruction *code;
    int length;
    int address_step; // bytes of an instruction
    char error[200];
};

// Reads the description that scripts/bounds makes. False, with program->error, where a line is not understood.
bool read_program(FILE *from, struct program *program);
void free_program(struct program *program);

// Index of the instruction at an address, or -1.
int instruction_at(const struct program *program, int64_t address);

// Marks what addresses, branches and barriers depend on (needed.c).
void mark_needed(struct program *program);

// Pipe, space, width and results of a decoded instruction (classes.c).
void classify(struct instruction *instruction);

// The word of a constant bank from the byte at an offset on, 0 where nobody gave one; bank 4: addresses of variables.
uint32_t constant_word(const struct program *program, int bank, int64_t offset);

#endif
