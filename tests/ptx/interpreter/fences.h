/*
 * fences.h - what a block knows of the others of its launch: by a word to which both came with atomics, each with a
 * fence between that and the rest.
 *
 * A lane that fences keeps what its warp knows and what it did itself; its next atomic leaves that in the word. A lane
 * that comes to the word with an atomic and then fences has a lesson: what was left there before. Who knows that the
 * lane had it, by a barrier, has it, too, and hands it on with what it leaves behind its next fence. Of several words
 * between two fences, the last one's counts.
 */
#ifndef GRADUS_PTX_FENCES_H
#define GRADUS_PTX_FENCES_H

#include <cstddef>
#include <vector>

#include "tests/ptx/interpreter/program.h"
#include "tests/ptx/interpreter/races.h"

namespace ptx
{
/* What was left in a word by those of the first releases that are of it. */
struct leavings {
    uint64_t word;
    size_t first;
};

/*
 * What a lane leaves in a word: its own accesses of block up to a time, what its warp knew of the other lanes, and what
 * it had from other blocks, in passages.handed.
 */
struct release {
    uint64_t word;
    uint32_t block, fenced, came; /* the lane's times: what the fence covers; the atomic itself */
    uint16_t thread;
    uint32_t known[MAX_WARPS];
    size_t handed, handed_end;
};

/* The lane at that time has what was left. */
struct lesson {
    leavings what;
    stamp had;
};

/* A lane of the running block. */
struct passer {
    bool fenced, came;
    release keeps;
    uint64_t word; /* its last atomic's, and the releases before */
    size_t before;
};

/* passers and learnt: of the running block; left and handed: of the launch. */
struct passages {
    std::vector<release> left;
    std::vector<leavings> handed;
    std::vector<lesson> learnt;
    std::vector<passer> passers;
};

/* A lane comes to a word of global memory with an atomic. */
void came_to_word(warp &w, unsigned lane, uint64_t word);
/* Whether another block's access s came before that of w's thread mine. */
bool fences_tell(const warp &w, const stamp &s, const stamp &mine);

handler fence_of(const statement &s); /* membar and fence for the whole GPU; NULL: none such */
} // namespace ptx

#endif
