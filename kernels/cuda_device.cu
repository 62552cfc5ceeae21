/*
 * cuda_device.cu - the device "cuda": memory, copies and errors of one NVIDIA GPU. Everything a context does runs in the order
 * of one stream; the host waits only where it reads a result.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/gpu.h"
#include "kernels/cuda/ladder/ladder.h"
#include "kernels/cuda/quad.cuh"

typedef struct {
    gr_device device; /* first: a gr_device * is a cuda_device * */
    char isa[16];     /* "sm_90" */
} cuda_device;

static cudaStream_t stream_of(const gr_device *d)
{
    return (cudaStream_t)d->queue;
}

static void *cuda_alloc(gr_device *d, size_t bytes)
{
    void *p = NULL;
    if (cudaMalloc(&p, bytes) != cudaSuccess) {
        cudaGetLastError(); /* out of memory is an answer, not a fault that later calls should see */
        return NULL;
    }
    if (cudaMemsetAsync(p, 0, bytes, stream_of(d)) == cudaSuccess)
        return p;
    cudaFree(p);
    return NULL;
}

static void cuda_free(gr_device *d, void *p, size_t bytes)
{
    (void)bytes;
    cudaStreamSynchronize(stream_of(d)); /* kernels under way may still use it */
    cudaFree(p);
}

/* From pageable memory the call returns once src has been read, so src may be reused at once. */
static bool cuda_upload(gr_device *d, void *dst, const void *src, size_t bytes)
{
    return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, stream_of(d)) == cudaSuccess;
}

static bool cuda_download(gr_device *d, void *dst, const void *src, size_t bytes)
{
    return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, stream_of(d)) == cudaSuccess &&
           cudaStreamSynchronize(stream_of(d)) == cudaSuccess;
}

static __global__ void add_to(float *dst, const float *src, int64_t count)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride())
        quad_store(dst, i, count, quad_load(src, i, count), true);
}

static bool cuda_add(gr_device *d, void *dst, const void *src, int64_t count)
{
    GR_LAUNCH(add_to, quad_blocks(count), QUAD_THREADS, 0, d->queue, (float *)dst, (const float *)src, count);
    return cudaPeekAtLastError() == cudaSuccess;
}

/* What has gone wrong on the device, which is told by whichever call comes next. */
static const char *cuda_fault(gr_device *d)
{
    (void)d;
    const cudaError_t error = cudaPeekAtLastError();
    return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

static bool cuda_wait(gr_device *d)
{
    return cudaStreamSynchronize(stream_of(d)) == cudaSuccess;
}

static void cuda_close(gr_device *d)
{
    cudaStreamDestroy(stream_of(d));
    free(d);
}

/* How many there are; where none, why. */
static int count_devices(const char **why)
{
    static char text[192];
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        return count;
    snprintf(text, sizeof text, "no CUDA device can be used: %s; the device simt runs the same kernels on a CPU",
             error == cudaSuccess ? "none was found" : cudaGetErrorString(error));
    if (why)
        *why = text;
    return 0;
}

extern "C" bool gr_gpu(int i, gr_gpu_info *info, const char **why)
{
    cudaDeviceProp properties;
    size_t free_bytes, bytes;
    if (i < 0 || i >= count_devices(why) || cudaGetDeviceProperties(&properties, i) != cudaSuccess ||
        cudaSetDevice(i) != cudaSuccess || cudaMemGetInfo(&free_bytes, &bytes) != cudaSuccess)
        return false;
    *info = {};
    snprintf(info->name, sizeof info->name, "%s", properties.name);
    info->capability = properties.major * 10 + properties.minor;
    info->memory = (int64_t)bytes;
    info->free = (int64_t)free_bytes;
    cudaDriverGetVersion(&info->driver);
    cudaRuntimeGetVersion(&info->runtime);
    return true;
}

/* The device that GRADUS_GPU names, or 0. Negative: *why says why there is none. */
static int choose(const char **why)
{
    static char text[128];
    const int count = count_devices(why);
    const char *named = getenv("GRADUS_GPU");
    const int number = named && *named ? atoi(named) : 0;
    if (count > 0 && number >= 0 && number < count)
        return number;
    snprintf(text, sizeof text, "GRADUS_GPU is %.20s, but the devices are numbered 0 to %d", named ? named : "", count - 1);
    if (count > 0)
        *why = text;
    return -1;
}

/* Opens stream and name. False: *why says why not. */
static bool set_up(cuda_device *cuda, int number, const char **why)
{
    cudaDeviceProp properties;
    cudaStream_t stream;
    cudaError_t error = cudaSetDevice(number);
    if (error == cudaSuccess)
        error = cudaGetDeviceProperties(&properties, number);
    if (error == cudaSuccess && properties.major * 10 + properties.minor < 75) {
        *why = "its compute capability is below 7.5, the oldest that Gradus is built for";
        return false;
    }
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error != cudaSuccess) {
        *why = cudaGetErrorString(error);
        return false;
    }
    snprintf(cuda->isa, sizeof cuda->isa, "sm_%d%d", properties.major, properties.minor);
    cuda->device.queue = stream;
    return true;
}

extern "C" gr_device *gr__cuda_device(const char **why)
{
    const int number = choose(why);
    if (number < 0)
        return NULL;
    *why = NULL;
    cuda_device *cuda = (cuda_device *)calloc(1, sizeof *cuda);
    if (!cuda || !set_up(cuda, number, why)) {
        free(cuda);
        return NULL;
    }
    gr_device *d = &cuda->device;
    d->name = "cuda";
    d->isa = cuda->isa;
    d->real = GR_F32;
    d->kernels = gr__cuda_kernels;
    d->probes = &gr__cuda_probes;
    d->ladder = gr__cuda_ladder;
    d->alloc = cuda_alloc;
    d->free = cuda_free;
    d->upload = cuda_upload;
    d->download = cuda_download;
    d->add = cuda_add;
    d->wait = cuda_wait;
    d->fault = cuda_fault;
    d->close = cuda_close;
    return d;
}
