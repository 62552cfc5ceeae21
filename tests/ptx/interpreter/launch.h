/* launch.h - a grid of blocks, one after the other. */
#ifndef GRADUS_PTX_LAUNCH_H
#define GRADUS_PTX_LAUNCH_H

#include "tests/ptx/interpreter/warp.h"

namespace ptx
{
struct launch {
    dim3 grid, block;
    uint32_t dynamic_shared = 0, allowed_shared = 48 * 1024; /* bytes */
    const char *parameters = nullptr;                        /* as program.parameters lays them out */
};

/* Runs all blocks. Throws fault. */
void run(program *p, const launch &l);
} // namespace ptx

#endif
