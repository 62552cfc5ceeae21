/*
 * language.h - CUDA C for g++ and clang++: the words of the language that kernels use, each a few lines over simt.h.
 *
 * Where CUDA has a builtin, it has its name here; what begins with gr_ is the twin of a wrapper in kernels/cuda/gpu.h. Functions
 * that can find something wrong take their caller's file and line as default arguments.
 */
#ifndef GRADUS_SIMT_LANGUAGE_H
#define GRADUS_SIMT_LANGUAGE_H

#include <math.h>
#include <string.h>

#include "kernels/simt/cuda/vector_types.h"
#include "kernels/simt/half.h"
#include "kernels/simt/simt.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __launch_bounds__(...)
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

#define GR__HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

/* --- numbers --------------------------------------------------------------------------------------------------------- */

#if !defined(GRADUS_SIMT_OWN_HALF) /* kernels/simt/cuda/cuda_fp16.h has more */
struct __align__(2) half {
    uint16_t bits;
};
struct __align__(2) __nv_bfloat16 {
    uint16_t bits;
};
typedef half __half;

static inline float __half2float(half h) { return gr__half_to_float(h.bits); }
static inline half __float2half(float f) { return half{gr__float_to_half(f)}; }
static inline float __bfloat162float(__nv_bfloat16 b) { return gr__bf16_to_float(b.bits); }
static inline __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16{gr__float_to_bf16(f)}; }
#endif

static inline unsigned __float_as_uint(float f) { return gr__float_bits(f); }
static inline float __uint_as_float(unsigned u) { return gr__float_of(u); }
static inline int __float_as_int(float f) { return (int)gr__float_bits(f); }
static inline float __int_as_float(int i) { return gr__float_of((unsigned)i); }

#define rsqrtf gr__rsqrtf /* glibc declares a function of this name from 2.42 on */
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
#define __expf expf /* glibc declares functions of these names */
#define __logf logf

static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }

#define GR__MIN_MAX(T)                                       \
    static inline T min(T a, T b) { return a < b ? a : b; } \
    static inline T max(T a, T b) { return a > b ? a : b; }
GR__MIN_MAX(int)
GR__MIN_MAX(unsigned)
GR__MIN_MAX(long)
GR__MIN_MAX(long long)
GR__MIN_MAX(unsigned long)
#undef GR__MIN_MAX
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }

template <class T> static inline T __ldg(const T *p) { return *p; }

/* --- shared memory --------------------------------------------------------------------------------------------------- */

#define GR_SHARED(T, name, dims)                                                                                          \
    typedef T name##_in_shared dims;                                                                                      \
    static const gr__simt_variable name##_variable = {#name, sizeof(name##_in_shared), __FILE__, __LINE__};               \
    name##_in_shared &name = *(name##_in_shared *)gr__simt_shared(&name##_variable)

#define GR_DYN_SHARED(T, name) T *name = (T *)gr__simt_dynamic_shared(__FILE__, __LINE__)

/* --- barriers, fences, collectives of a warp --------------------------------------------------------------------------- */

static inline void __syncthreads(GR__HERE) { gr__simt_barrier(0, 0, file, line); }
static inline void gr_named_barrier(int id, int threads, GR__HERE) { gr__simt_barrier(id, threads, file, line); }

static inline void __threadfence(void) { gr__simt_fence(); }
/* The threads of an emulated block take turns on one processor: memory is always in order. */
static inline void __threadfence_block(void) {}

static inline void __syncwarp(unsigned mask = 0xFFFFFFFF, GR__HERE) { gr__simt_warp(mask, GR__SIMT_SYNC, NULL, file, line); }

template <class T>
static inline T gr__shuffle(unsigned mask, T v, gr__simt_shuffle_mode mode, int operand, int width, const char *file, int line)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves at most 8 bytes");
    gr__simt_shuffle lane = {0, 0, mode, operand, width};
    memcpy(&lane.in, &v, sizeof v);
    gr__simt_warp(mask, GR__SIMT_SHUFFLE, &lane, file, line);
    memcpy(&v, &lane.out, sizeof v);
    return v;
}

template <class T> static inline T __shfl_sync(unsigned mask, T v, int lane, int width = 32, GR__HERE)
{
    return gr__shuffle(mask, v, GR__SIMT_INDEX, lane, width, file, line);
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32, GR__HERE)
{
    return gr__shuffle(mask, v, GR__SIMT_UP, (int)by, width, file, line);
}
template <class T> static inline T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32, GR__HERE)
{
    return gr__shuffle(mask, v, GR__SIMT_DOWN, (int)by, width, file, line);
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32, GR__HERE)
{
    return gr__shuffle(mask, v, GR__SIMT_XOR, bits, width, file, line);
}

static inline unsigned gr__vote(unsigned mask, gr__simt_collective op, int v, const char *file, int line)
{
    gr__simt_vote lane = {v, 0};
    gr__simt_warp(mask, op, &lane, file, line);
    return lane.out;
}

static inline unsigned __ballot_sync(unsigned mask, int v, GR__HERE) { return gr__vote(mask, GR__SIMT_BALLOT, v, file, line); }
static inline int __all_sync(unsigned mask, int v, GR__HERE) { return (int)gr__vote(mask, GR__SIMT_ALL, v, file, line); }
static inline int __any_sync(unsigned mask, int v, GR__HERE) { return (int)gr__vote(mask, GR__SIMT_ANY, v, file, line); }
static inline int __reduce_add_sync(unsigned mask, int v, GR__HERE) { return (int)gr__vote(mask, GR__SIMT_SUM, v, file, line); }
static inline int __reduce_min_sync(unsigned mask, int v, GR__HERE) { return (int)gr__vote(mask, GR__SIMT_MIN, v, file, line); }
static inline int __reduce_max_sync(unsigned mask, int v, GR__HERE) { return (int)gr__vote(mask, GR__SIMT_MAX, v, file, line); }

/* --- atomics --------------------------------------------------------------------------------------------------------- */

/* The bits of v, as the runtime passes them. */
template <class T> static inline uint64_t gr__bits(T v)
{
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof v);
    return bits;
}

template <class T>
static inline T gr__atomic(T *p, gr__simt_atomic_op op, T value, T expected, const char *file, int line)
{
    const uint64_t old = gr__simt_atomic(p, sizeof(T), op, gr__bits(value), gr__bits(expected), file, line);
    T v;
    memcpy(&v, &old, sizeof v);
    return v;
}

#define GR__ATOMIC(T, name, op) \
    static inline T name(T *p, T v, GR__HERE) { return gr__atomic(p, op, v, v, file, line); }
GR__ATOMIC(int, atomicAdd, GR__SIMT_ADD)
GR__ATOMIC(unsigned, atomicAdd, GR__SIMT_ADD)
GR__ATOMIC(unsigned long long, atomicAdd, GR__SIMT_ADD)
GR__ATOMIC(float, atomicAdd, GR__SIMT_ADD_FLOAT)
GR__ATOMIC(double, atomicAdd, GR__SIMT_ADD_FLOAT)
GR__ATOMIC(unsigned, atomicInc, GR__SIMT_INCREMENT)
GR__ATOMIC(unsigned, atomicDec, GR__SIMT_DECREMENT)
GR__ATOMIC(float, atomicExch, GR__SIMT_EXCHANGE)
#define GR__ATOMICS(T, smaller, larger)         \
    GR__ATOMIC(T, atomicMin, smaller)           \
    GR__ATOMIC(T, atomicMax, larger)            \
    GR__ATOMIC(T, atomicAnd, GR__SIMT_AND)      \
    GR__ATOMIC(T, atomicOr, GR__SIMT_OR)        \
    GR__ATOMIC(T, atomicXor, GR__SIMT_XOR_BITS) \
    GR__ATOMIC(T, atomicExch, GR__SIMT_EXCHANGE)
GR__ATOMICS(int, GR__SIMT_SMALLER, GR__SIMT_LARGER)
GR__ATOMICS(unsigned, GR__SIMT_SMALLER_UNSIGNED, GR__SIMT_LARGER_UNSIGNED)
GR__ATOMICS(long long, GR__SIMT_SMALLER, GR__SIMT_LARGER)
GR__ATOMICS(unsigned long long, GR__SIMT_SMALLER_UNSIGNED, GR__SIMT_LARGER_UNSIGNED)
#undef GR__ATOMICS
#undef GR__ATOMIC
static inline int atomicSub(int *p, int v, GR__HERE) { return atomicAdd(p, -v, file, line); }
static inline unsigned atomicSub(unsigned *p, unsigned v, GR__HERE) { return atomicAdd(p, 0u - v, file, line); }
static inline unsigned long long atomicCAS(unsigned long long *p, unsigned long long expected, unsigned long long v,
                                           GR__HERE)
{
    return gr__atomic(p, GR__SIMT_COMPARE_AND_SWAP, v, expected, file, line);
}
static inline int atomicCAS(int *p, int expected, int v, GR__HERE)
{
    return gr__atomic(p, GR__SIMT_COMPARE_AND_SWAP, v, expected, file, line);
}
static inline unsigned atomicCAS(unsigned *p, unsigned expected, unsigned v, GR__HERE)
{
    return gr__atomic(p, GR__SIMT_COMPARE_AND_SWAP, v, expected, file, line);
}

/* --- sm_80: asynchronous copies, matrices ------------------------------------------------------------------------------ */

static inline void gr_cp_async16(void *shared, const void *global, int bytes, GR__HERE)
{
    gr__simt_copy_async(shared, global, 16, bytes, file, line);
}
static inline void gr_cp_async4(void *shared, const void *global, int bytes, GR__HERE)
{
    gr__simt_copy_async(shared, global, 4, bytes, file, line);
}
static inline void gr_cp_async_commit(void) { gr__simt_copy_commit(); }
template <int PENDING> static inline void gr_cp_async_wait(void) { gr__simt_copy_wait(PENDING); }

static inline void gr_ldmatrix_x4(uint32_t r[4], const void *shared, GR__HERE)
{
    gr__simt_ldmatrix lane = {r, shared};
    gr__simt_warp(0xFFFFFFFF, GR__SIMT_LDMATRIX, &lane, file, line);
}
static inline void gr_ldmatrix_x4_trans(uint32_t r[4], const void *shared, GR__HERE)
{
    gr__simt_ldmatrix lane = {r, shared};
    gr__simt_warp(0xFFFFFFFF, GR__SIMT_LDMATRIX_TRANS, &lane, file, line);
}

#define GR__MMA(name, op)                                                                  \
    static inline void name(float d[4], const uint32_t a[4], const uint32_t b[2], GR__HERE) \
    {                                                                                      \
        gr__simt_mma lane = {d, a, b};                                                     \
        gr__simt_warp(0xFFFFFFFF, op, &lane, file, line);                                  \
    }
GR__MMA(gr_mma_f16, GR__SIMT_MMA_F16)
GR__MMA(gr_mma_bf16, GR__SIMT_MMA_BF16)
GR__MMA(gr_mma_tf32, GR__SIMT_MMA_TF32)
#undef GR__MMA

/* --- launch ---------------------------------------------------------------------------------------------------------- */

typedef void *cudaStream_t; /* cuda_runtime_api.h says the same */

template <class T> struct gr__as_is {
    typedef T type;
};

template <class Closure> static void gr__run_closure(const void *closure) { (*(const Closure *)closure)(); }

/* Equal parameters are to be equal bytes: what lies between the members of a struct is whatever lay there before. */
template <class P> static inline P *gr__clear_padding(P *p)
{
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(p);
#endif
#endif
    return p;
}

/* False: the launch is written down, and not to be run. */
template <class... P> static inline bool gr__record(const gr__simt_config *config, P... parameters)
{
    enum { MOST = 4096 }; /* bytes that a kernel's parameters take */
    unsigned char bytes[MOST];
    size_t at = 0;
    const auto add = [&](void *from, size_t size, size_t alignment) {
        at = (at + alignment - 1) / alignment * alignment;
        if (at + size <= MOST)
            memcpy(bytes + at, from, size);
        return at += size;
    };
    (void)add; /* of a kernel without parameters */
    memset(bytes, 0, sizeof bytes);
    const size_t ends[] = {0, add(gr__clear_padding(&parameters), sizeof parameters, alignof(P))...};
    at = ends[sizeof...(P)];
    return gr__simt_write_down(config, bytes, at < MOST ? at : (size_t)MOST);
}

/* Arguments become the kernel's parameter types here and are evaluated once, as with <<< >>>. */
template <class... P>
static inline void gr__launch(gr__simt_config config, void (*kernel)(P...), typename gr__as_is<P>::type... arguments)
{
    const auto closure = [=] { kernel(arguments...); };
    static_assert(__is_trivially_copyable(decltype(closure)), "a kernel's parameters are plain data");
    config.function = (const void *)kernel;
    config.run = gr__run_closure<decltype(closure)>;
    config.arguments = &closure;
    config.arguments_bytes = sizeof closure;
    if (!gr__simt_writes_down() || gr__record(&config, arguments...))
        gr__simt_launch(&config);
}

static inline gr__simt_config gr__config(const char *kernel, const char *unit, dim3 grid, dim3 block, size_t bytes,
                                         void *stream, GR__HERE)
{
    gr__simt_config c = {};
    c.kernel = kernel, c.unit = unit, c.file = file, c.line = line;
    c.grid = uint3{grid.x, grid.y, grid.z}, c.block = uint3{block.x, block.y, block.z};
    c.dynamic_shared = bytes, c.stream = stream;
    return c;
}

#define GR_LAUNCH(kernel, grid, block, bytes, stream, ...) \
    gr__launch(gr__config(#kernel, __BASE_FILE__, (grid), (block), (bytes), (stream)), (kernel), ##__VA_ARGS__)

#define GR_ALLOW_SHARED(kernel, bytes) gr__simt_allow_shared((const void *)(kernel), (bytes), __FILE__, __LINE__)

#endif
