/*
 * scratch.cuh - a call's scratch, in parts: how much to ask for, and how the parts follow each other.
 */
#ifndef GRADUS_SCRATCH_CUH
#define GRADUS_SCRATCH_CUH

#include "kernels/cuda/quad.cuh"

/* Of two needs of scratch, one after the other. */
static inline size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Bytes for so many T, such that what comes behind them is aligned as scratch is. */
template <class T> static inline size_t scratch_for(int64_t count)
{
    return (size_t)divide_up(count * (int64_t)sizeof(T), 256) * 256;
}

/* So many T from exec's scratch, of which exec then has the rest. */
template <class T> static inline T *take_scratch(gr_exec *exec, int64_t count)
{
    T *part = (T *)exec->scratch;
    exec->scratch = (char *)exec->scratch + scratch_for<T>(count);
    return part;
}

#endif
