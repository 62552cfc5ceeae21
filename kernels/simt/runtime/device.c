/* device.c - what the one device answers when it is asked about itself: as a GPU of compute capability 8.0. */
#include <stdio.h>
#include <string.h>

#include "kernels/simt/runtime/runtime.h"

enum { SMS = 108, CLOCK = 1410000, MEMORY_CLOCK = 1215000, BUS = 5120, L2 = 40 << 20 };
static const size_t memory = (size_t)16 << 30;

cudaError_t cudaGetDeviceCount(int *count)
{
    gr__cuda_start();
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    gr__cuda_start();
    return device == 0 ? cudaSuccess : gr__cuda_fails(cudaErrorInvalidDevice, NULL, 0);
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    (void)flags;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    if (device)
        return gr__cuda_fails(cudaErrorInvalidDevice, NULL, 0);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "Gradus emulator (no GPU)");
    p->totalGlobalMem = memory;
    p->sharedMemPerBlock = 48 << 10, p->sharedMemPerBlockOptin = 163 << 10, p->sharedMemPerMultiprocessor = 164 << 10;
    p->reservedSharedMemPerBlock = 1 << 10, p->totalConstMem = 64 << 10;
    p->memPitch = 0x7FFFFFFF, p->textureAlignment = p->surfaceAlignment = 512;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->warpSize = 32, p->maxThreadsPerBlock = 1024, p->maxThreadsPerMultiProcessor = 2048;
    p->maxBlocksPerMultiProcessor = 32;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024, p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7FFFFFFF, p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->major = 8, p->minor = 0, p->multiProcessorCount = SMS, p->clockRate = CLOCK;
    p->memoryClockRate = MEMORY_CLOCK, p->memoryBusWidth = BUS, p->l2CacheSize = L2;
    p->deviceOverlap = p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = 1;
    p->managedMemory = p->concurrentManagedAccess = p->streamPrioritiesSupported = 1;
    p->globalL1CacheSupported = p->localL1CacheSupported = p->computePreemptionSupported = 1;
    p->canUseHostPointerForRegisteredMem = p->cooperativeLaunch = 1;
    p->asyncEngineCount = 2, p->singleToDoublePrecisionPerfRatio = 2;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    struct cudaDeviceProp p;
    const cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error)
        return error;
    const struct {
        enum cudaDeviceAttr attribute;
        int value;
    } answers[] = {
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
        {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
        {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
        {cudaDevAttrMaxSharedMemoryPerBlock, (int)p.sharedMemPerBlock},
        {cudaDevAttrTotalConstantMemory, (int)p.totalConstMem},
        {cudaDevAttrWarpSize, p.warpSize},
        {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
        {cudaDevAttrClockRate, p.clockRate},
        {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
        {cudaDevAttrGpuOverlap, 1},
        {cudaDevAttrKernelExecTimeout, 0},
        {cudaDevAttrIntegrated, 0},
        {cudaDevAttrCanMapHostMemory, 1},
        {cudaDevAttrComputeMode, 0},
        {cudaDevAttrConcurrentKernels, 1},
        {cudaDevAttrMemoryClockRate, p.memoryClockRate},
        {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrManagedMemory, 1},
        {cudaDevAttrPageableMemoryAccess, 0},
        {cudaDevAttrConcurrentManagedAccess, 1},
        {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)p.sharedMemPerBlockOptin},
        {cudaDevAttrMemoryPoolsSupported, 1},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].attribute == attribute) {
            *value = answers[i].value;
            return cudaSuccess;
        }
    return gr__cuda_fails(cudaErrorInvalidValue, NULL, 0);
}

/* As for a kernel of at most 32 registers: threads and shared memory of a multiprocessor set the limit. */
int gr__cuda_blocks_at_a_time(int threads, size_t bytes, bool whole)
{
    const int by_threads = threads > 0 ? 2048 / threads : 0, by_memory = bytes ? (int)(164 * 1024 / bytes) : 32;
    const int fewer = by_threads < by_memory ? by_threads : by_memory, most = fewer < 32 ? fewer : 32;
    return whole ? most * SMS : most;
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *properties)
{
    (void)properties;
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    gr__cuda_wait_all();
    gr__simt_host_waited();
    gr__cuda_asked();
    return gr__cuda_look();
}

cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

cudaError_t cudaDeviceReset(void)
{
    return cudaDeviceSynchronize();
}

cudaError_t cudaThreadExit(void)
{
    return cudaDeviceSynchronize();
}

/* --- settings that change nothing here ---------------------------------------------------------------------------- */

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    (void)limit, (void)value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    *value = limit == cudaLimitStackSize ? 1024 : 8 << 20;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    (void)config;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    *pool = NULL;
    return device ? gr__cuda_fails(cudaErrorInvalidDevice, NULL, 0) : cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    (void)pool, (void)attribute, (void)value;
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
    (void)pool, (void)bytes;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    (void)config;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    (void)device, (void)peer;
    *can = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer, (void)flags;
    return gr__cuda_fails(cudaErrorInvalidDevice, NULL, 0);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    (void)peer;
    return gr__cuda_fails(cudaErrorInvalidDevice, NULL, 0);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0, *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDA_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = memory;
    return cudaSuccess;
}

cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}
