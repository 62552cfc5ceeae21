/*
 * float_mode.h - how the processor computes with floats while kernels of a CPU device run.
 *
 * Subnormal numbers, below 2^-126 = 1.2e-38, count as zero where they are read and become zero where they arise: over
 * each of them a processor takes up to a hundred times as long, and a network whose units die is full of them. Results
 * are rounded to nearest and nothing traps, whatever the program has asked for. So all threads compute alike. The
 * caller's own mode, the flags of what happened among it, is put back.
 */
#ifndef GRADUS_FLOAT_MODE_H
#define GRADUS_FLOAT_MODE_H

#include <stdint.h>

/* Sets the mode of this thread; returns what gr__float_mode_end puts back. */
static inline uint64_t gr__float_mode_begin(void)
{
    uint64_t before = 0;
#if defined(__x86_64__)
    const uint32_t mode = 0x9FC0; /* MXCSR: flush to zero, all exceptions masked, to nearest, denormals are zeros */
    uint32_t mxcsr;
    __asm__ volatile("stmxcsr %0\n\tldmxcsr %1" : "=&m"(mxcsr) : "m"(mode) : "memory");
    before = mxcsr;
#elif defined(__aarch64__)
    const uint64_t mode = (uint64_t)1 << 24; /* FPCR: FZ */
    __asm__ volatile("mrs %0, fpcr\n\tmsr fpcr, %1" : "=&r"(before) : "r"(mode) : "memory");
#endif
    return before;
}

static inline void gr__float_mode_end(uint64_t before)
{
#if defined(__x86_64__)
    const uint32_t mxcsr = (uint32_t)before;
    __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr) : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(before) : "memory");
#else
    (void)before;
#endif
}

#endif
