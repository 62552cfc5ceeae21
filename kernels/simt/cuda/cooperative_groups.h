/*
 * cooperative_groups.h - the basics: blocks, tiles of a warp, lanes that happen to be together, reductions; the grid of
 * a cooperative launch.
 */
#ifndef GRADUS_CUDA_COOPERATIVE_GROUPS_H
#define GRADUS_CUDA_COOPERATIVE_GROUPS_H

#include <type_traits>

#include "kernels/simt/cuda/cuda_runtime.h"

namespace cooperative_groups
{

class thread_block
{
  public:
    static void sync(GR__HERE) { gr__simt_barrier(0, 0, file, line); }
    void barrier_wait(GR__HERE) const { sync(file, line); }
    static unsigned thread_rank() { return gr__linear_thread(); }
    static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned size() { return num_threads(); }
    static dim3 group_index() { return dim3(blockIdx); }
    static dim3 thread_index() { return dim3(threadIdx); }
    static dim3 group_dim() { return dim3(blockDim); }
    static dim3 dim_threads() { return dim3(blockDim); }
};
static inline thread_block this_thread_block() { return thread_block(); }

class grid_group
{
  public:
    bool is_valid() const { return gr__simt_is_cooperative(); }
    void sync(GR__HERE) const { gr__simt_grid_barrier(file, line); }
    unsigned long long thread_rank() const
    {
        return ((uint64_t)blockIdx.x + gridDim.x * (blockIdx.y + (uint64_t)gridDim.y * blockIdx.z)) *
                   thread_block::size() +
               thread_block::thread_rank();
    }
    unsigned long long size() const { return (uint64_t)gridDim.x * gridDim.y * gridDim.z * thread_block::size(); }
    unsigned long long num_threads() const { return size(); }
    dim3 group_dim() const { return dim3(gridDim); }
    dim3 dim_blocks() const { return dim3(gridDim); }
    unsigned num_blocks() const { return gridDim.x * gridDim.y * gridDim.z; }
    dim3 block_index() const { return dim3(blockIdx); }
    unsigned block_rank() const { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
};
static inline grid_group this_grid() { return grid_group(); }

/* Some lanes of a warp: those of mask, the first of them rank 0. Tiles and coalesced groups are such. */
class gr__lanes
{
  public:
    void sync(GR__HERE) const { __syncwarp(mask, file, line); }
    unsigned thread_rank() const { return (unsigned)__popc(mask & ((1u << lane()) - 1)); }
    unsigned size() const { return (unsigned)__popc(mask); }
    unsigned num_threads() const { return size(); }
    unsigned long long meta_group_rank() const { return rank; }
    unsigned long long meta_group_size() const { return groups; }
    template <class T> T shfl(T v, unsigned from, GR__HERE) const
    {
        return bring(v, lane_of(from % size()), file, line);
    }
    template <class T> T shfl_down(T v, unsigned by, GR__HERE) const { return move(v, thread_rank() + by, file, line); }
    template <class T> T shfl_up(T v, unsigned by, GR__HERE) const { return move(v, thread_rank() - by, file, line); }
    template <class T> T shfl_xor(T v, unsigned bits, GR__HERE) const
    {
        return move(v, thread_rank() ^ bits, file, line);
    }
    unsigned ballot(int v, GR__HERE) const { return pack(__ballot_sync(mask, v, file, line)); }
    int any(int v, GR__HERE) const { return __any_sync(mask, v, file, line); }
    int all(int v, GR__HERE) const { return __all_sync(mask, v, file, line); }
    template <class T> unsigned match_any(T v, GR__HERE) const { return pack(__match_any_sync(mask, v, file, line)); }
    unsigned gr__mask() const { return mask; }

  protected:
    gr__lanes(unsigned mask, unsigned rank = 0, unsigned groups = 1) : mask(mask), rank(rank), groups(groups) {}
    static unsigned lane() { return gr__linear_thread() % 32; }

    /* The warp's lane that is this group's thread of rank i. */
    int lane_of(unsigned i) const
    {
        unsigned left = mask;
        for (; i; i--)
            left &= left - 1;
        return __builtin_ctz(left);
    }
    template <class T> T move(T v, unsigned from, const char *file, int line) const
    {
        const int source = lane_of(from < size() ? from : thread_rank());
        return bring(v, source, file, line);
    }
    /* In pieces of 8 bytes, of which __shfl_sync takes one. */
    template <class T> T bring(T v, int source, const char *file, int line) const
    {
        static_assert(sizeof(T) <= 32, "a shuffle of a group moves at most 32 bytes");
        uint64_t piece[(sizeof(T) + 7) / 8] = {};
        memcpy(piece, &v, sizeof v);
        for (uint64_t &p : piece)
            p = __shfl_sync(mask, p, source, 32, file, line);
        memcpy(&v, piece, sizeof v);
        return v;
    }
    unsigned pack(unsigned bits) const
    {
        unsigned packed = 0;
        for (unsigned i = 0; i < size(); i++)
            packed |= (bits >> lane_of(i) & 1) << i;
        return packed;
    }
    unsigned mask, rank, groups;
};

class coalesced_group : public gr__lanes
{
  public:
    explicit coalesced_group(unsigned mask, unsigned rank = 0, unsigned groups = 1) : gr__lanes(mask, rank, groups) {}
};
static inline coalesced_group coalesced_threads(GR__HERE) { return coalesced_group(gr__simt_active_lanes(file, line)); }

template <unsigned SIZE, class Parent = thread_block> class thread_block_tile : public gr__lanes
{
    static_assert(SIZE > 0 && SIZE <= 32 && !(SIZE & (SIZE - 1)), "a tile has 1, 2, 4, 8, 16 or 32 threads");

  public:
    thread_block_tile()
        : gr__lanes(exists() & (SIZE == 32 ? ~0u : ((1u << SIZE) - 1) << lane() / SIZE * SIZE),
                    thread_block::thread_rank() / SIZE, (thread_block::size() + SIZE - 1) / SIZE)
    {
    }
    static constexpr unsigned size() { return SIZE; }
    static constexpr unsigned num_threads() { return SIZE; }
    static unsigned thread_rank() { return thread_block::thread_rank() % SIZE; }

  private:
    /* Lanes of this warp that the block has. */
    static unsigned exists()
    {
        const unsigned left = thread_block::size() - thread_block::thread_rank() / 32 * 32;
        return left >= 32 ? ~0u : (1u << left) - 1;
    }
};
template <unsigned SIZE, class Group> static inline thread_block_tile<SIZE> tiled_partition(const Group &)
{
    return thread_block_tile<SIZE>();
}

/* The threads of a group for which pred is what it is for the caller; those for which it is false are group 0 of 2. */
static inline coalesced_group binary_partition(const gr__lanes &g, bool pred, GR__HERE)
{
    const unsigned all = g.gr__mask(), with = __ballot_sync(all, pred, file, line);
    if (with == 0 || with == all)
        return coalesced_group(all);
    return coalesced_group(pred ? with : all & ~with, pred, 2);
}

/* Those that have the caller's label: the groups in the order of their first threads, but false before true. */
template <class Label> static inline coalesced_group labeled_partition(const gr__lanes &g, Label label, GR__HERE)
{
    static_assert(std::is_integral<Label>::value || std::is_pointer<Label>::value,
                  "a label is an integer or a pointer");
    if constexpr (std::is_same<Label, bool>::value)
        return binary_partition(g, label, file, line);
    const unsigned alike = __match_any_sync(g.gr__mask(), label, file, line), first = alike & -alike;
    const unsigned firsts = __ballot_sync(g.gr__mask(), first >> gr__linear_thread() % 32 & 1, file, line);
    return coalesced_group(alike, (unsigned)__popc(firsts & (first - 1)), (unsigned)__popc(firsts));
}

/* Partitions whose size is known at run time: as a group of lanes, or the whole block. */
class thread_group : public gr__lanes
{
  public:
    thread_group(const thread_block &) : gr__lanes(0), whole(true) {}
    thread_group(const gr__lanes &lanes) : gr__lanes(lanes), whole(false) {}
    thread_group(unsigned lanes_mask, unsigned rank, unsigned groups)
        : gr__lanes(lanes_mask, rank, groups), whole(false)
    {
    }
    void sync(GR__HERE) const
    {
        if (whole)
            gr__simt_barrier(0, 0, file, line);
        else
            gr__lanes::sync(file, line);
    }
    unsigned thread_rank() const { return whole ? thread_block::thread_rank() : gr__lanes::thread_rank(); }
    unsigned size() const { return whole ? thread_block::size() : gr__lanes::size(); }
    unsigned num_threads() const { return size(); }

  private:
    bool whole;
};
template <class Group> static inline thread_group tiled_partition(const Group &, unsigned size)
{
    const unsigned lane = gr__linear_thread() % 32;
    return thread_group(size >= 32 ? ~0u : ((1u << size) - 1) << lane / size * size, gr__linear_thread() / size,
                        (thread_block::size() + size - 1) / size);
}

template <class Group> static inline void sync(const Group &g, GR__HERE) { g.sync(file, line); }

template <class T> struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
    T operator()(T a, T b) const { return a < b ? a : b; }
};
template <class T> struct greater {
    T operator()(T a, T b) const { return a > b ? a : b; }
};
template <class T> struct bit_and {
    T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
    T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
    T operator()(T a, T b) const { return a ^ b; }
};

/* All of a group's values, in the order of their ranks; every thread has the result. */
template <class Group, class T, class F> static inline T reduce(const Group &g, T v, F f, GR__HERE)
{
    T r = g.shfl(v, 0, file, line);
    for (unsigned i = 1; i < g.size(); i++)
        r = f(r, g.shfl(v, i, file, line));
    return r;
}

} /* namespace cooperative_groups */

#endif
