/*
 * program.h - a kernel decoded once, to be executed by warps: instructions whose operands are places of rows.
 *
 * A register of a warp is a row: the values of its 32 lanes beside each other, 32 or 64 bits each; a predicate is one
 * word, a bit for each lane. A place is a row's offset in bytes, in the warp's registers or in the program's constants.
 */
#ifndef GRADUS_PTX_PROGRAM_H
#define GRADUS_PTX_PROGRAM_H

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tests/ptx/interpreter/parser.h"

namespace ptx
{
enum { LANES = 32, ROW32 = LANES * 4, ROW64 = LANES * 8 };

typedef uint32_t mask; /* of lanes: bit l is lane l */
const mask ALL = ~0u;

typedef uint32_t place;
const place CONSTANT = 1u << 31, NOWHERE = ~0u;

/* The first rows of every warp. */
enum special {
    TID_X,
    TID_Y,
    TID_Z,
    NTID_X,
    NTID_Y,
    NTID_Z,
    CTAID_X,
    CTAID_Y,
    CTAID_Z,
    NCTAID_X,
    NCTAID_Y,
    NCTAID_Z,
    LANEID,
    WARPID,
    SPECIALS
};

struct warp;
struct region;
struct instruction;
typedef void (*handler)(warp &, const instruction &, mask);

enum class flow : uint8_t {
    PLAIN,
    BRANCH,
    RETURN,
    BARRIER,
    TOGETHER, /* done when all its lanes have come */
};

enum { MAX_TO = 4, MAX_FROM = 10 };

struct instruction {
    handler run;
    place guard, target; /* NOWHERE: none; target: of a branch, the number of an instruction */
    place to[MAX_TO], from[MAX_FROM];
    int64_t offset;  /* of the address */
    int64_t offset2; /* of cp.async's source */
    flow what;
    bool unless, aligned;
    uint8_t n_to, n_from;
    uint8_t members;        /* TOGETHER: from[members] tells which lanes; MAX_FROM: all of the warp */
    uint8_t choice;         /* the handler knows */
    uint8_t wide;           /* of a load or store: its registers have 64 bits */
    mutable region *near;   /* the allocation that was met last */
    mutable uint64_t times; /* that a warp has come here */
};

/* Where an instruction comes from. */
struct origin {
    const statement *from;
    const function *in;
};

struct parameter {
    uint32_t offset, size;
};

struct program {
    std::string name;
    module *home = nullptr;
    std::vector<instruction> code;
    std::vector<origin> origins;           /* one for each instruction */
    std::vector<std::vector<place>> lists; /* of registers, for instructions that have many */
    std::vector<char> constants;
    uint32_t register_bytes = 0, shared_bytes = 0, dynamic_at = 0, parameter_bytes = 0, local_bytes = 0,
             max_threads = 0;
    std::vector<parameter> parameters;
    uint64_t launches = 0;

    /* "conv2d.cu:17: ld.global.f32 %f1, [%rd4];" */
    std::string line_of(size_t number) const;
};

/* NULL: the module has no such entry. Throws unknown. */
program *decode(module *m, const std::string &entry);
} // namespace ptx

#endif
