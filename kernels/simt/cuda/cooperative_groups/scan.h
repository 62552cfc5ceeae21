/* scan.h - what each thread of a group has with those of lower ranks: with its own value, and without. */
#ifndef GRADUS_CUDA_COOPERATIVE_GROUPS_SCAN_H
#define GRADUS_CUDA_COOPERATIVE_GROUPS_SCAN_H

#include "kernels/simt/cuda/cooperative_groups.h"

namespace cooperative_groups
{
template <class Group, class T, class F = plus<T>>
static inline T inclusive_scan(const Group &g, T v, F f = F(), GR__HERE)
{
    T r = g.shfl(v, 0, file, line);
    for (unsigned i = 1; i < g.size(); i++) {
        const T next = g.shfl(v, i, file, line);
        r = i <= g.thread_rank() ? f(r, next) : r;
    }
    return r;
}

/* Rank 0 has T(). */
template <class Group, class T, class F = plus<T>>
static inline T exclusive_scan(const Group &g, T v, F f = F(), GR__HERE)
{
    const T r = g.shfl_up(inclusive_scan(g, v, f, file, line), 1, file, line);
    return g.thread_rank() ? r : T();
}
} // namespace cooperative_groups

#endif
