/* coverage.h - how much of each kernel's PTX was run. */
#ifndef GRADUS_PTX_COVERAGE_H
#define GRADUS_PTX_COVERAGE_H

#include <string>
#include <vector>

#include "tests/ptx/interpreter/program.h"

namespace ptx
{
struct covered {
    std::string name;
    const program *code; /* NULL: it was never launched, and never decoded */
};

/*
 * A line of JSON for each kernel, behind what FILE has: its name, source, launches, instructions, those that were run
 * (as a string of hexadecimal digits, the first instruction in the first digit's highest bit, so that runs can be
 * joined), those that divide numbers of more than 32 bits (likewise), how often a warp came to one, and the lines of
 * the source that they come from.
 */
void append_coverage(const std::string &file, const std::vector<covered> &kernels);
} // namespace ptx

#endif
