/* warp.h - 32 lanes that execute one program, and the block they belong to. */
#ifndef GRADUS_PTX_WARP_H
#define GRADUS_PTX_WARP_H

#include <random>
#include <type_traits>
#include <vector>

#include "tests/ptx/interpreter/asynchronous.h"
#include "tests/ptx/interpreter/fences.h"
#include "tests/ptx/interpreter/program.h"
#include "tests/ptx/interpreter/races.h"

namespace ptx
{
enum { BARRIERS = 16 };

struct dim3 {
    uint32_t x = 1, y = 1, z = 1;
};

/* A cp.async under way. */
struct copy {
    uint32_t lane, group, to, size, bytes; /* size: of the destination; bytes of it come from memory, the rest is 0 */
    uint64_t from;
};

struct block {
    const program *code;
    std::vector<char> shared;
    std::vector<cell> watched; /* of shared memory */
    const char *parameters;
    dim3 at, size, grid;
    uint32_t number, launch, serial; /* of the block in its grid; of the launch; of the block among all there were */
    uint32_t warps;
    std::mt19937_64 chance;
    asynchronous beside;
    passages between; /* this block and the others of its launch */
};

/* Values of a row: 16 bits and fewer lie in 32. */
template <class T> using lane_word = typename std::conditional<sizeof(T) == 8, uint64_t, uint32_t>::type;

struct warp {
    block *home;
    char *rows[2];          /* registers, constants */
    uint32_t number, first; /* of the warp; its first thread's */
    mask live, active, parked;
    uint32_t pc, meet;     /* of the active lanes; where they may meet others */
    bool apart;            /* some parted at a branch, and no instruction has brought them all together since */
    uint32_t pc_of[LANES]; /* of the others */
    int waits;             /* at which barrier; -1: at none */
    uint32_t waits_for;    /* threads of that barrier; 0: all */
    uint32_t waits_at;     /* the barrier's instruction */
    std::vector<copy> copies;
    uint32_t group[LANES]; /* of cp.async, that is open */
    mask spun;             /* since the warp's turn began found that they must wait at an mbarrier */
    uint32_t in_vain;      /* atomics in a row that changed nothing */
    uint32_t spun_at;      /* the instruction at which the last of them did */
    std::vector<product> products;
    uint32_t group_of_products;      /* of wgmma, that is open */
    uint64_t products_made;          /* a number made of their operands */
    bool fenced;                     /* wgmma.fence came */
    uint32_t time, known[ALL_WARPS]; /* see races.h */
    std::vector<char> memory;        /* of the registers */
    std::vector<char> local;         /* of lane l from l * local_bytes on */

    template <class T> lane_word<T> *row(place p) const
    {
        return (lane_word<T> *)(rows[p >> 31] + (p & ~CONSTANT));
    }
    mask &predicate(place p) const
    {
        return *(mask *)(rows[p >> 31] + (p & ~CONSTANT));
    }
};

/* The lanes that the block's size gives this warp. */
mask lanes_of(const warp &w);

/* A warp before its first instruction, with room for the program's registers. */
void warp_begin(warp *w, block *home, uint32_t number);

/* Until it has ended, or waits at a barrier. Throws fault. */
void warp_run(warp &w);
} // namespace ptx

#endif
