/* fault.h - a kernel broke a rule: the words that end its launch. */
#ifndef GRADUS_PTX_FAULT_H
#define GRADUS_PTX_FAULT_H

#include <stdexcept>
#include <string>

namespace ptx
{
struct warp;
struct instruction;

struct fault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* What happened, with the kernel, its line, block and thread. */
[[noreturn]] void broken(const warp &w, const instruction &i, unsigned lane, const std::string &what);
} // namespace ptx

#endif
