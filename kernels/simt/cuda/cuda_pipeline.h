/*
 * cuda_pipeline.h - copies to shared memory that go on beside the thread that began them: the functions in C, and
 * <cuda/pipeline>'s cuda::pipeline of one thread. Both are cp.async and its groups.
 */
#ifndef GRADUS_CUDA_PIPELINE_H
#define GRADUS_CUDA_PIPELINE_H

#include "kernels/simt/cuda/barrier.h"

/* bytes: 4, 8 or 16, of which the last zeros come from nowhere. */
static inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0, GR__HERE)
{
    if (bytes == 16)
        gr__simt_copy_async(to, from, 16, (int)(16 - zeros), file, line);
    for (size_t i = 0; i < bytes && bytes != 16; i += 4)
        gr__simt_copy_async((char *)to + i, (const char *)from + i, 4, i < bytes - zeros ? 4 : 0, file, line);
}
static inline void __pipeline_commit(void) { gr__simt_copy_commit(); }
static inline void __pipeline_wait_prior(int later) { gr__simt_copy_wait(later); }

namespace cuda
{
template <thread_scope SCOPE> class pipeline
{
    static_assert(SCOPE == thread_scope_thread, "the emulator has cuda::pipeline<cuda::thread_scope_thread>");

  public:
    void producer_acquire() {}
    void producer_commit()
    {
        gr__simt_copy_commit();
        committed++;
    }
    /* For the oldest of its stages. */
    void consumer_wait() { gr__simt_copy_wait(committed - released - 1); }
    void consumer_release() { released++; }
    bool quit() { return true; }

  private:
    int committed = 0, released = 0;
};
static inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

template <unsigned char LATER> static inline void pipeline_consumer_wait_prior(pipeline<thread_scope_thread> &)
{
    gr__simt_copy_wait(LATER);
}

template <class Group>
static inline void memcpy_async(const Group &g, void *to, const void *from, size_t bytes,
                                pipeline<thread_scope_thread> &, GR__HERE)
{
    cooperative_groups::gr__copy_async(g, to, from, bytes, file, line);
}
static inline void memcpy_async(void *to, const void *from, size_t bytes, pipeline<thread_scope_thread> &, GR__HERE)
{
    cooperative_groups::gr__copy_async(gr__alone(), to, from, bytes, file, line);
}
} // namespace cuda

#endif
