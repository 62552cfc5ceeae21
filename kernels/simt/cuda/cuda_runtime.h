/*
 * cuda_runtime.h - what nvcc's programs find without asking: the language (language.h, builtins.h), launches, and the
 * runtime's functions with their callers' file and line. This is C++ for g++; kernels/simt/compiler translates before.
 */
#ifndef GRADUS_CUDA_RUNTIME_H
#define GRADUS_CUDA_RUNTIME_H

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <type_traits>
#include <utility>

#define GRADUS_SIMT_OWN_HALF
#include "kernels/simt/cuda/cuda_runtime_api.h"
#include "kernels/simt/language.h"

#define __inline__ inline
#define __builtin_align__(n) __attribute__((aligned(n)))
#if defined(__CUDACC__)
/* The translator takes note of these, and takes them away. */
#undef __global__
#undef __device__
#undef __host__
#define __device__ __attribute__((gr__device__))
#define __host__ __attribute__((gr__host__))
#undef __constant__
#define __constant__ __attribute__((gr__device__))
#define __managed__ __attribute__((gr__host__))
#define __CUDA_ARCH__ 800
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#else
#define __managed__
#endif

#include "kernels/simt/cuda/builtins.h"
#include "kernels/simt/cuda/textures.h"

/* (gr__looks(), cudaMalloc(...)): what the translator makes of a call whose value somebody looks at. */
struct gr__looking {
};
static inline constexpr gr__looking gr__looks() { return {}; }
static inline cudaError_t operator,(gr__looking, cudaError_t error) { return gr__cuda_looked_at(error); }

/* --- launches ----------------------------------------------------------------------------------------------------- */

static inline gr__simt_config gr__configure(const char *kernel, dim3 grid, dim3 block, size_t bytes = 0,
                                            cudaStream_t stream = 0, GR__HERE)
{
    return gr__config(kernel, "", grid, block, bytes, stream, file, line);
}

template <class Closure> static inline void gr__run(gr__simt_config config, const Closure &closure)
{
    config.run = gr__run_closure<Closure>;
    config.arguments = &closure;
    config.arguments_bytes = sizeof closure;
    gr__cuda_launch(&config);
}

/* An argument that points to the host's memory works here and on no GPU. */
template <class T> static inline void gr__look_at(const gr__simt_config &, int, const T &) {}
template <class T> static inline void gr__look_at(const gr__simt_config &config, int number, T *const &p)
{
    if constexpr (!std::is_function<T>::value)
        gr__cuda_look_at_argument(&config, number, (const void *)p);
}
template <class... A> static inline void gr__look_at_all(const gr__simt_config &config, const A &...arguments)
{
    int number = 0;
    const int done[] = {0, (gr__look_at(config, ++number, arguments), 0)...};
    (void)done;
}

/* kernel<<<...>>>(arguments): they are evaluated once, here, and every thread gets copies. */
template <class Call> struct gr__launcher {
    gr__simt_config config;
    Call call;
    template <class... A> void operator()(A... arguments) const
    {
        const Call &k = call;
        gr__look_at_all(config, arguments...);
        gr__run(config, [=] { k(arguments...); });
    }
};
template <class Call> static inline gr__launcher<Call> gr__launch_by(gr__simt_config config, Call call)
{
    return gr__launcher<Call>{config, call};
}

/* An argument: a copy of it, or for a parameter that is a reference the address, which must be of device memory. */
template <class T> struct gr__copied {
    T value;
    const T &get() const { return value; }
};
template <class T> struct gr__addressed {
    T *at;
    T &get() const { return *at; }
};
template <class T> static inline gr__copied<T> gr__copy_of(T v) { return {v}; }
template <bool BY_ADDRESS, class T> static inline auto gr__argument(T &v)
{
    if constexpr (BY_ADDRESS)
        return gr__addressed<T>{__builtin_addressof(v)};
    else
        return gr__copy_of(v);
}

/* The same for a kernel that takes references: a bit of REFERENCES for each. */
template <unsigned REFERENCES, class Call> struct gr__address_launcher {
    gr__simt_config config;
    Call call;
    template <class... A> void operator()(A &&...a) const { number(std::index_sequence_for<A...>(), a...); }

  private:
    static constexpr bool by_address(size_t i) { return i < 32 && (REFERENCES >> i & 1); }
    template <size_t... I, class... A> void number(std::index_sequence<I...>, A &...a) const
    {
        run(gr__argument<by_address(I)>(a)...);
    }
    template <class... A> void run(A... arguments) const
    {
        const Call &k = call;
        gr__run(config, [=] { k(arguments.get()...); });
    }
};
template <unsigned REFERENCES, class Call>
static inline gr__address_launcher<REFERENCES, Call> gr__launch_at(gr__simt_config config, Call call)
{
    return {config, call};
}

/* The same for arguments that need to know their types: NULL, {1, 2}. */
template <class... P> struct gr__typed_launcher {
    gr__simt_config config;
    void (*kernel)(P...);
    void operator()(P... arguments) const
    {
        void (*const k)(P...) = kernel;
        gr__look_at_all(config, arguments...);
        gr__run(config, [=] { k(arguments...); });
    }
};
template <class... P>
static inline gr__typed_launcher<P...> gr__launch_typed(gr__simt_config config, void (*kernel)(P...))
{
    config.function = (const void *)kernel;
    return gr__typed_launcher<P...>{config, kernel};
}

/* extern __shared__ outside of a function. */
template <class T> struct gr__dynamic_array {
    T *begin(GR__HERE) const { return (T *)gr__simt_dynamic_shared_if_any(file, line); }
    operator T *() const { return begin(); }
    template <class U> explicit operator U *() const { return (U *)begin(); }
};

/* The type at place N of a list. */
template <size_t N, class First, class... Rest> struct gr__nth {
    typedef typename gr__nth<N - 1, Rest...>::type type;
};
template <class First, class... Rest> struct gr__nth<0, First, Rest...> {
    typedef First type;
};

/* Arguments by address. */
template <class K> struct gr__unpack;
template <class... P> struct gr__unpack<void (*)(P...)> {
    template <class... A> static void call(gr__simt_config c, void (*kernel)(P...), void **arguments, A... have)
    {
        if constexpr (sizeof...(A) == sizeof...(P))
            gr__launch_typed(c, kernel)(*have...);
        else
            call(c, kernel, arguments, have..., (typename gr__nth<sizeof...(A), P...>::type *)arguments[sizeof...(A)]);
    }
};

template <class K>
static inline cudaError_t cudaLaunchKernel(K *kernel, dim3 grid, dim3 block, void **arguments, size_t bytes = 0,
                                           cudaStream_t stream = 0, GR__HERE)
{
    gr__unpack<K *>::call(gr__config("cudaLaunchKernel", "", grid, block, bytes, stream, file, line), kernel,
                          arguments);
    return cudaPeekAtLastError();
}

template <class K>
static inline cudaError_t cudaLaunchCooperativeKernel(K *kernel, dim3 grid, dim3 block, void **arguments,
                                                      size_t bytes = 0, cudaStream_t stream = 0, GR__HERE)
{
    gr__simt_config c = gr__config("cudaLaunchCooperativeKernel", "", grid, block, bytes, stream, file, line);
    c.cooperative = true;
    c.most_blocks = gr__cuda_blocks_at_a_time((int)(block.x * block.y * block.z), bytes, true);
    gr__unpack<K *>::call(c, kernel, arguments);
    return cudaPeekAtLastError();
}

/* Of a kernel that came in a variable nobody knows what it takes; of a cast in the call the translator does. */
#define GR__NO_KERNEL                                                                                                 \
    __attribute__((error("the emulator wants the kernel itself here, cudaLaunchKernel(kernel, ...), or a pointer of " \
                         "its type: a void * does not say what its parameters are")))
GR__NO_KERNEL cudaError_t cudaLaunchKernel(void *, dim3, dim3, void **, size_t = 0, cudaStream_t = 0);
GR__NO_KERNEL cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t = 0, cudaStream_t = 0);
GR__NO_KERNEL cudaError_t cudaLaunchCooperativeKernel(void *, dim3, dim3, void **, size_t = 0, cudaStream_t = 0);
GR__NO_KERNEL cudaError_t cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t = 0, cudaStream_t = 0);
#undef GR__NO_KERNEL

template <class K>
static inline cudaError_t cudaFuncSetAttribute(K *kernel, enum cudaFuncAttribute which, int value, GR__HERE)
{
    return which == cudaFuncAttributeMaxDynamicSharedMemorySize
               ? gr__cuda_allow_shared((const void *)kernel, value, file, line)
               : cudaSuccess;
}
template <class K> static inline cudaError_t cudaFuncSetCacheConfig(K *, enum cudaFuncCache) { return cudaSuccess; }
template <class K> static inline cudaError_t cudaFuncSetSharedMemConfig(K *, enum cudaSharedMemConfig)
{
    return cudaSuccess;
}
template <class K> static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, K *)
{
    *a = {};
    a->maxThreadsPerBlock = 1024, a->numRegs = 32, a->ptxVersion = a->binaryVersion = 80;
    a->maxDynamicSharedSizeBytes = 48 * 1024;
    return cudaSuccess;
}

template <class K>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, K *, int threads, size_t bytes)
{
    *blocks = gr__cuda_blocks_at_a_time(threads, bytes, false);
    return cudaSuccess;
}
template <class K>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, K *, size_t = 0, int limit = 0)
{
    *block = limit > 0 && limit < 1024 ? limit : 1024;
    *grid = 2 * 108;
    return cudaSuccess;
}

template <class F, class K>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, K *k, F, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSize(grid, block, k, 0, limit);
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

template <class T> static inline cudaError_t cudaMalloc(T **p, size_t bytes, GR__HERE)
{
    return gr__cuda_alloc((void **)p, bytes, cudaMemoryTypeDevice, file, line);
}
template <class T> static inline cudaError_t cudaMallocAsync(T **p, size_t bytes, cudaStream_t, GR__HERE)
{
    return gr__cuda_alloc((void **)p, bytes, cudaMemoryTypeDevice, file, line);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T **p, size_t bytes, unsigned = cudaMemAttachGlobal, GR__HERE)
{
    return gr__cuda_alloc((void **)p, bytes, cudaMemoryTypeManaged, file, line);
}
template <class T> static inline cudaError_t cudaMallocHost(T **p, size_t bytes, unsigned = 0, GR__HERE)
{
    return gr__cuda_alloc((void **)p, bytes, cudaMemoryTypeHost, file, line);
}
template <class T> static inline cudaError_t cudaHostAlloc(T **p, size_t bytes, unsigned, GR__HERE)
{
    return gr__cuda_alloc((void **)p, bytes, cudaMemoryTypeHost, file, line);
}
template <class T, class H> static inline cudaError_t cudaHostGetDevicePointer(T **device, H *host, unsigned)
{
    *device = (T *)host;
    return cudaSuccess;
}
static inline cudaError_t cudaFree(void *p, GR__HERE) { return gr__cuda_free(p, file, line); }
static inline cudaError_t cudaFreeAsync(void *p, cudaStream_t, GR__HERE) { return gr__cuda_free(p, file, line); }
template <class T>
static inline cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height, GR__HERE)
{
    *pitch = (width + 511) / 512 * 512;
    return gr__cuda_alloc((void **)p, *pitch * height, cudaMemoryTypeDevice, file, line);
}

static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, GR__HERE)
{
    return gr__cuda_copy(to, from, bytes, kind, 0, true, file, line);
}
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                          cudaStream_t stream = 0, GR__HERE)
{
    return gr__cuda_copy(to, from, bytes, kind, stream, false, file, line);
}
static inline cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                       size_t height, enum cudaMemcpyKind kind, GR__HERE)
{
    return gr__cuda_copy_rows(to, to_pitch, from, from_pitch, width, height, kind, 0, true, file, line);
}
static inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                            size_t width, size_t height, enum cudaMemcpyKind kind,
                                            cudaStream_t stream = 0, GR__HERE)
{
    return gr__cuda_copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream, false, file, line);
}
static inline cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t width, size_t height)
{
    return {p, pitch, width, height};
}
static inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
static inline cudaError_t cudaMalloc3D(cudaPitchedPtr *p, cudaExtent box, GR__HERE)
{
    *p = {NULL, 0, box.width, box.height};
    return cudaMallocPitch(&p->ptr, &p->pitch, box.width, box.height * box.depth, file, line);
}
static inline cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p, GR__HERE)
{
    return gr__cuda_copy_box(p, 0, true, file, line);
}
static inline cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream = 0, GR__HERE)
{
    return gr__cuda_copy_box(p, stream, false, file, line);
}
/* There is one device, of the number 0. */
static inline cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, size_t bytes, GR__HERE)
{
    return gr__cuda_copy(to, from, bytes, cudaMemcpyDeviceToDevice, 0, true, file, line);
}
static inline cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes,
                                              cudaStream_t stream = 0, GR__HERE)
{
    return gr__cuda_copy(to, from, bytes, cudaMemcpyDeviceToDevice, stream, false, file, line);
}
static inline cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height, GR__HERE)
{
    return gr__cuda_fill_rows(p, pitch, value, width, height, 0, file, line);
}
static inline cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                                            cudaStream_t stream = 0, GR__HERE)
{
    return gr__cuda_fill_rows(p, pitch, value, width, height, stream, file, line);
}
static inline cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent box, GR__HERE)
{
    return gr__cuda_fill_box(p, value, box, 0, file, line);
}
static inline cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent box, cudaStream_t stream = 0,
                                            GR__HERE)
{
    return gr__cuda_fill_box(p, value, box, stream, file, line);
}
static inline cudaError_t cudaMemset(void *p, int value, size_t bytes, GR__HERE)
{
    return gr__cuda_fill(p, value, bytes, 0, file, line);
}
static inline cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream = 0, GR__HERE)
{
    return gr__cuda_fill(p, value, bytes, stream, file, line);
}
template <class T> static inline cudaError_t cudaMemPrefetchAsync(const T *, size_t, int, cudaStream_t = 0)
{
    return cudaSuccess;
}
template <class T> static inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, T *, size_t = 0, unsigned = 0)
{
    return cudaSuccess;
}

/* Variables of the program: they lie in its own memory. A text is none; CUDA took their names so until version 5. */
template <class T>
static inline cudaError_t gr__copy_symbol(T &symbol, void *host, bool to, size_t bytes, size_t offset,
                                          cudaStream_t stream, bool wait, const char *file, int line)
{
    char *const p = (char *)&symbol + offset;
    const bool text = to && std::is_same<typename std::remove_extent<T>::type, const char>::value;
    if (!gr__cuda_symbol(text, sizeof symbol, offset, bytes, file, line))
        return cudaPeekAtLastError();
    return gr__cuda_copy(to ? p : (char *)host, to ? (char *)host : p, bytes, cudaMemcpyDefault, stream, wait, file,
                         line);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                             enum cudaMemcpyKind = cudaMemcpyHostToDevice, GR__HERE)
{
    return gr__copy_symbol(symbol, (void *)from, true, bytes, offset, 0, true, file, line);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(T &symbol, const void *from, size_t bytes, size_t offset,
                                                  enum cudaMemcpyKind, cudaStream_t stream = 0, GR__HERE)
{
    return gr__copy_symbol(symbol, (void *)from, true, bytes, offset, stream, false, file, line);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                               enum cudaMemcpyKind = cudaMemcpyDeviceToHost, GR__HERE)
{
    return gr__copy_symbol(symbol, to, false, bytes, offset, 0, true, file, line);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset,
                                                    enum cudaMemcpyKind, cudaStream_t stream = 0, GR__HERE)
{
    return gr__copy_symbol(symbol, to, false, bytes, offset, stream, false, file, line);
}
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **p, const T &symbol)
{
    *p = (void *)&symbol;
    return cudaSuccess;
}
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &)
{
    *bytes = sizeof(T);
    return cudaSuccess;
}

/* --- streams and events ------------------------------------------------------------------------------------------- */

static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) { return cudaStreamCreate(stream); }
static inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned, int)
{
    return cudaStreamCreate(stream);
}
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0)
{
    return gr__cuda_wait_event(stream, event);
}
static inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data,
                                                unsigned)
{
    return gr__cuda_callback(stream, function, data);
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned) { return cudaEventCreate(event); }
static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) { return cudaEventCreate(event); }
static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0)
{
    return gr__cuda_record(event, stream);
}
static inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = 0, unsigned = 0)
{
    return gr__cuda_record(event, stream);
}
static inline cudaError_t cudaStreamGetPriority(cudaStream_t, int *priority)
{
    *priority = 0;
    return cudaSuccess;
}
static inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
static inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *made, cudaGraph_t graph,
                                                        unsigned long long = 0)
{
    *made = graph;
    return cudaSuccess;
}
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, ...)
{
    *made = graph;
    return cudaSuccess;
}

#endif
