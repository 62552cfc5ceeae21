/*
 * barrier.h - <cuda/barrier>: cuda::barrier of a block, whose threads arrive at one place and wait at another, over
 * what a GPU has for it, the barriers in shared memory of hopper.h; copies that are there behind it.
 */
#ifndef GRADUS_CUDA_BARRIER_H
#define GRADUS_CUDA_BARRIER_H

#include <stddef.h>

#include <utility>

#include "kernels/simt/cuda/cooperative_groups/memcpy_async.h"
#include "kernels/simt/hopper.h"

namespace cuda
{
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

/* A size that is a multiple of so many bytes, as are the addresses. */
template <size_t ALIGNMENT> struct aligned_size_t {
    size_t value;
    explicit aligned_size_t(size_t value) : value(value) {}
    operator size_t() const { return value; }
};

template <thread_scope SCOPE> class barrier
{
    static_assert(SCOPE == thread_scope_block, "the emulator has cuda::barrier<cuda::thread_scope_block>");

  public:
    class arrival_token
    {
        friend class barrier;
        int parity;
        explicit arrival_token(int parity) : parity(parity) {}
    };

    barrier() = default; /* __shared__ */
    barrier(const barrier &) = delete;
    barrier &operator=(const barrier &) = delete;
    static constexpr ptrdiff_t max() { return (1 << 20) - 1; }

    friend void init(barrier *b, ptrdiff_t threads, GR__HERE)
    {
        gr__simt_mbarrier_init(&b->state, (int)threads, file, line);
    }

    /* What the caller copied by memcpy_async is there when it has arrived: not before, and not later than it may be. */
    arrival_token arrive(ptrdiff_t times = 1, GR__HERE)
    {
        int parity = 0;
        gr__simt_copy_wait(0);
        for (ptrdiff_t i = 0; i < times; i++)
            parity = gr__simt_mbarrier_arrive(&state, -1, file, line);
        return arrival_token(parity);
    }
    void wait(arrival_token &&token, GR__HERE) const
    {
        gr__simt_mbarrier_wait((void *)&state, token.parity, file, line);
    }
    void arrive_and_wait(GR__HERE) { wait(arrive(1, file, line), file, line); }

  private:
    uint64_t state;
};

/* By a group, or by the calling thread alone, which must arrive at the barrier afterwards. */
template <class Group, thread_scope SCOPE>
static inline void memcpy_async(const Group &g, void *to, const void *from, size_t bytes, barrier<SCOPE> &, GR__HERE)
{
    cooperative_groups::memcpy_async(g, to, from, bytes, file, line);
}
struct gr__alone {
    static unsigned thread_rank() { return 0; }
    static unsigned size() { return 1; }
};
template <thread_scope SCOPE>
static inline void memcpy_async(void *to, const void *from, size_t bytes, barrier<SCOPE> &, GR__HERE)
{
    cooperative_groups::memcpy_async(gr__alone(), to, from, bytes, file, line);
}
} // namespace cuda

#endif
