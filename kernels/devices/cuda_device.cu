/*
 * cuda_device.cu - the device "cuda": memory, copies and errors of one NVIDIA GPU. Everything a context does runs in
 * the order of one stream, beside which a second one brings data in; the host waits only where it reads a result.
 */
#include <cuda_runtime.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/add_to.h"
#include "kernels/cuda/gpu.h"
#include "kernels/devices/nccl_link.h"
#include "kernels/devices/staging.h"

/* --- streams as staging.h wants them ------------------------------------------------------------------------------ */

static void *event_open(void)
{
    cudaEvent_t event;
    return cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess ? event : NULL;
}

static void event_close(void *event)
{
    cudaEventDestroy((cudaEvent_t)event);
}

static bool event_record(void *event, void *stream)
{
    return cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream) == cudaSuccess;
}

static bool stream_wait(void *stream, void *event)
{
    return cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0) == cudaSuccess;
}

static bool host_wait(void *event)
{
    return cudaEventSynchronize((cudaEvent_t)event) == cudaSuccess;
}

static bool stream_copy(void *dst, const void *src, size_t bytes, void *stream)
{
    return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, (cudaStream_t)stream) == cudaSuccess;
}

static void *pinned_alloc(size_t bytes)
{
    void *p = NULL;
    return cudaMallocHost(&p, bytes) == cudaSuccess ? p : NULL;
}

static void pinned_free(void *p)
{
    cudaFreeHost(p);
}

static void *staging_alloc(size_t bytes)
{
    void *p = NULL;
    return cudaMalloc(&p, bytes) == cudaSuccess ? p : NULL;
}

static void staging_free(void *p)
{
    cudaFree(p);
}

static const gr_stream_calls stream_calls = {event_open,  event_close,  event_record, stream_wait,   host_wait,
                                             stream_copy, pinned_alloc, pinned_free,  staging_alloc, staging_free};

/* --- and as stopwatch.h does -------------------------------------------------------------------------------------- */

static void *timed_event_open(void)
{
    cudaEvent_t event;
    return cudaEventCreateWithFlags(&event, cudaEventDefault) == cudaSuccess ? event : NULL;
}

static bool seconds_between(void *from, void *to, double *seconds)
{
    float milliseconds = 0;
    const bool known = cudaEventElapsedTime(&milliseconds, (cudaEvent_t)from, (cudaEvent_t)to) == cudaSuccess;
    *seconds = 1e-3 * milliseconds;
    return known;
}

static const gr_timed_events timed_events = {timed_event_open, event_close, event_record, host_wait, seconds_between};

/* --- the device --------------------------------------------------------------------------------------------------- */

typedef struct {
    gr_device device; /* first: a gr_device * is a cuda_device * */
    int number;       /* the runtime's, of this GPU */
    char isa[16];     /* "sm_90" */
    gr_staging staging;
    gr_stopwatch stopwatch;
    bool capturing;
} cuda_device;

static cuda_device *cuda_of(gr_device *d)
{
    return (cuda_device *)d;
}

/* Each thread of a program has a GPU of its own that the runtime's calls are about, the first one to begin with. */
static void cuda_enter(gr_device *d)
{
    cudaSetDevice(cuda_of(d)->number);
}

/* The stream of all work, whose GPU becomes the calling thread's. */
static cudaStream_t stream_of(gr_device *d)
{
    cuda_enter(d);
    return (cudaStream_t)d->queue;
}

static void *cuda_alloc(gr_device *d, size_t bytes)
{
    void *p = NULL;
    cudaStream_t stream = stream_of(d);
    if (cudaPeekAtLastError() != cudaSuccess) /* cuda_fault tells */
        return NULL;
    if (cudaMalloc(&p, bytes) != cudaSuccess) {
        if (cudaPeekAtLastError() == cudaErrorMemoryAllocation)
            cudaGetLastError(); /* out of memory is an answer, not a fault that later calls should see */
        return NULL;
    }
    if (cudaMemsetAsync(p, 0, bytes, stream) == cudaSuccess)
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

static bool cuda_upload(gr_device *d, void *dst, const void *src, size_t bytes)
{
    cuda_enter(d);
    return !cuda_of(d)->capturing && gr__staging_upload(&cuda_of(d)->staging, dst, src, bytes);
}

static bool cuda_download(gr_device *d, void *dst, const void *src, size_t bytes)
{
    cudaStream_t stream = stream_of(d);
    if (cuda_of(d)->capturing)
        return false;
    const int stretch = gr__stopwatch_begin(d->stopwatch, GR_STREAM_COMPUTE, stream);
    const bool asked = cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, stream) == cudaSuccess;
    gr__stopwatch_end(d->stopwatch, stretch, stream);
    return asked && cudaStreamSynchronize(stream) == cudaSuccess;
}

static bool cuda_add(gr_device *d, void *dst, const void *src, int64_t count)
{
    cuda_enter(d);
    gr__cuda_add_to((float *)dst, (const float *)src, count, d->queue);
    return cudaPeekAtLastError() == cudaSuccess;
}

/* What has gone wrong on the device, which is told by whichever call comes next. */
static const char *cuda_fault(gr_device *d)
{
    (void)d; /* errors are kept by thread, whatever the GPU */
    const cudaError_t error = cudaPeekAtLastError();
    return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

/* That it is not done is no error, and leaves none. */
static bool cuda_idle(gr_device *d)
{
    cudaStream_t stream = stream_of(d);
    if (cudaPeekAtLastError() != cudaSuccess)
        return true;
    if (cudaStreamQuery(stream) != cudaErrorNotReady)
        return true;
    if (cudaPeekAtLastError() == cudaErrorNotReady)
        cudaGetLastError();
    return false;
}

/* By NCCL, which knows GPUs by what the driver calls them. */
static bool cuda_link(gr_device *d, gr_group *g, gr_link **link, char *why, size_t size)
{
    cudaDeviceProp properties;
    cuda_enter(d);
    if (cudaGetDeviceProperties(&properties, cuda_of(d)->number) != cudaSuccess)
        properties = {};
    return gr__nccl_link(d->queue, properties.uuid.bytes, g, link, why, size);
}

static bool cuda_wait(gr_device *d)
{
    return cudaStreamSynchronize(stream_of(d)) == cudaSuccess;
}

static void cuda_close(gr_device *d)
{
    gr_staging *s = &cuda_of(d)->staging;
    cuda_enter(d);
    cudaStreamSynchronize((cudaStream_t)s->copies);
    cudaStreamSynchronize((cudaStream_t)s->compute);
    cudaFree(d->arrivals);
    gr__staging_close(s);
    gr__stopwatch_close(d->stopwatch);
    cudaStreamDestroy((cudaStream_t)s->copies);
    cudaStreamDestroy((cudaStream_t)s->compute);
    free(d);
}

/* --- graphs ------------------------------------------------------------------------------------------------------- */

static bool cuda_capture_begin(gr_device *d)
{
    return cuda_of(d)->capturing =
               cudaStreamBeginCapture(stream_of(d), cudaStreamCaptureModeThreadLocal) == cudaSuccess;
}

static void *cuda_capture_end(gr_device *d)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    cuda_of(d)->capturing = false;
    if (cudaStreamEndCapture(stream_of(d), &graph) != cudaSuccess || !graph)
        return NULL;
    const bool made = cudaGraphInstantiateWithFlags(&ready, graph, 0) == cudaSuccess;
    cudaGraphDestroy(graph);
    return made ? ready : NULL;
}

static bool cuda_replay(gr_device *d, void *graph)
{
    return cudaGraphLaunch((cudaGraphExec_t)graph, stream_of(d)) == cudaSuccess;
}

static void cuda_graph_close(gr_device *d, void *graph)
{
    cudaStreamSynchronize(stream_of(d)); /* it may still run */
    cudaGraphExecDestroy((cudaGraphExec_t)graph);
}

/* --- finding and opening one -------------------------------------------------------------------------------------- */

/* The runtime calls a driver that is not there too old. */
static const char *trouble(cudaError_t error)
{
    int driver = 0;
    if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
        return "there is no NVIDIA driver";
    return cudaGetErrorString(error);
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
             error == cudaSuccess ? "none was found" : trouble(error));
    if (why)
        *why = text;
    return 0;
}

extern "C" bool gr_gpu(int i, gr_gpu_info *info, const char **why)
{
    cudaDeviceProp properties;
    size_t free_bytes = 0, bytes = 0;
    int before = 0;
    if (i < 0 || i >= count_devices(why) || cudaGetDeviceProperties(&properties, i) != cudaSuccess ||
        cudaGetDevice(&before) != cudaSuccess)
        return false;
    const bool known = cudaSetDevice(i) == cudaSuccess && cudaMemGetInfo(&free_bytes, &bytes) == cudaSuccess;
    cudaSetDevice(before);
    if (!known)
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

/* The whole number that text is; -1: it is none. */
static int number_of(const char *text)
{
    char *end;
    const long n = strtol(text, &end, 10);
    return end != text && !*end && n >= 0 && n <= INT_MAX ? (int)n : -1;
}

/* The device of this number, NULL: that GRADUS_GPU names, or 0. Negative: *why says why there is none. */
static int choose(const char *which, const char **why)
{
    static char text[128];
    const int count = count_devices(why);
    const char *named = which ? which : getenv("GRADUS_GPU");
    const int number = named && *named ? number_of(named) : 0;
    if (count > 0 && number >= 0 && number < count)
        return number;
    snprintf(text, sizeof text, "%s is %.20s, but the devices are numbered 0 to %d",
             which ? "its number" : "GRADUS_GPU", named ? named : "", count - 1);
    if (count > 0)
        *why = text;
    return -1;
}

/* Opens streams and name. False: *why says why not. */
static bool set_up(cuda_device *cuda, int number, const char **why)
{
    cudaDeviceProp properties;
    cudaStream_t compute = NULL, copies = NULL;
    cudaError_t error = cudaSetDevice(number);
    if (error == cudaSuccess)
        error = cudaGetDeviceProperties(&properties, number);
    if (error == cudaSuccess && properties.major * 10 + properties.minor < 75) {
        *why = "its compute capability is below 7.5, the oldest that Gradus is built for";
        return false;
    }
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&cuda->device.arrivals, GR_ARRIVALS * sizeof(unsigned));
    if (error == cudaSuccess)
        error = cudaMemsetAsync(cuda->device.arrivals, 0, GR_ARRIVALS * sizeof(unsigned), compute);
    if (error != cudaSuccess) {
        cudaFree(cuda->device.arrivals);
        if (copies)
            cudaStreamDestroy(copies);
        if (compute)
            cudaStreamDestroy(compute);
        *why = cudaGetErrorString(error);
        return false;
    }
    snprintf(cuda->isa, sizeof cuda->isa, "sm_%d%d", properties.major, properties.minor);
    cuda->device.without_bf16 = properties.major < 8;
    cuda->device.tf32 = properties.major >= 8;
    cuda->device.multiprocessors = properties.multiProcessorCount;
#ifndef GRADUS_WITHOUT_90A
    cuda->device.wgmma = properties.major == 9 && properties.minor == 0;
#endif
    cuda->number = number;
    cuda->device.queue = compute;
    cuda->staging.calls = &stream_calls;
    cuda->staging.compute = compute;
    cuda->staging.copies = copies;
    cuda->staging.stopwatch = cuda->device.stopwatch = &cuda->stopwatch;
    cuda->stopwatch.events = &timed_events;
    cuda->stopwatch.compute = compute;
    return true;
}

extern "C" gr_device *gr__cuda_device(const char *which, const char **why)
{
    const int number = choose(which, why);
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
    d->cast = &gr__ops[GR_OP_cast];
    d->probes = &gr__cuda_probes;
    d->alloc = cuda_alloc;
    d->free = cuda_free;
    d->upload = cuda_upload;
    d->download = cuda_download;
    d->add_real = cuda_add;
    d->enter = cuda_enter;
    d->wait = cuda_wait;
    d->link = cuda_link;
    d->idle = cuda_idle;
    d->fault = cuda_fault;
    d->close = cuda_close;
    d->capture_begin = cuda_capture_begin;
    d->capture_end = cuda_capture_end;
    d->replay = cuda_replay;
    d->graph_close = cuda_graph_close;
    return d;
}
