/*
 * memcpy_async.h - copies by a group that are there behind its wait: by cp.async from global to shared memory where
 * both lie alike in their words, and at once elsewhere, as on a GPU.
 */
#ifndef GRADUS_CUDA_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define GRADUS_CUDA_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "kernels/simt/cuda/cooperative_groups.h"

namespace cooperative_groups
{
/* Without closing the group of copies. */
template <class Group>
static inline void gr__copy_async(const Group &g, void *to_bytes, const void *from_bytes, size_t bytes, GR__HERE)
{
    char *const to = (char *)to_bytes;
    const char *const from = (const char *)from_bytes;
    const bool alike = ((uintptr_t)to - (uintptr_t)from) % 4 == 0;
    const bool later = gr__simt_is_shared(to) && !gr__simt_is_shared(from);
    const size_t before = (4 - (uintptr_t)from % 4) % 4, head = alike && before < bytes ? before : bytes;
    const size_t tail = head + (bytes - head) / 4 * 4, rank = g.thread_rank(), step = g.size();
    for (size_t i = rank; i < head; i += step)
        to[i] = from[i];
    for (size_t i = head + 4 * rank; i < tail; i += 4 * step)
        if (later)
            gr__simt_copy_async(to + i, from + i, 4, 4, file, line);
        else
            *(unsigned *)(to + i) = *(const unsigned *)(from + i);
    for (size_t i = tail + rank; i < bytes; i += step)
        to[i] = from[i];
}
template <class Group>
static inline void memcpy_async(const Group &g, void *to, const void *from, size_t bytes, GR__HERE)
{
    gr__copy_async(g, to, from, bytes, file, line);
    gr__simt_copy_commit();
}

/* As many elements as both have. */
template <class Group, class To, class T>
static inline void memcpy_async(const Group &g, const To &to, size_t room, const T *from, size_t count, GR__HERE)
{
    memcpy_async(g, (void *)(T *)to, (const void *)from, (room < count ? room : count) * sizeof(T), file, line);
}

/* For all of its copies but the last so many, and for the group. */
template <unsigned LATER, class Group> static inline void wait_prior(const Group &g, GR__HERE)
{
    gr__simt_copy_wait(LATER);
    g.sync(file, line);
}
template <class Group> static inline void wait(const Group &g, GR__HERE) { wait_prior<0>(g, file, line); }
} // namespace cooperative_groups

#endif
