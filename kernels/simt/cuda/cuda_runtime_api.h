/*
 * cuda_runtime_api.h - the part of CUDA's runtime that programs for learners use, with its names and its promises, on
 * the emulator. Where a function can find something wrong, C++ passes its caller's file and line (cuda_runtime.h).
 */
#ifndef GRADUS_CUDA_RUNTIME_API_H
#define GRADUS_CUDA_RUNTIME_API_H

#include <stddef.h>

#include "kernels/simt/simt.h"

#define CUDART_VERSION 12000
#define CUDA_VERSION 12000
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_H__
#define CUDART_CB

#ifdef __cplusplus
extern "C" {
#endif

/* NAME, number, what it says: those of CUDA 12. */
#define GR__CUDA_ERRORS(ERROR)                                                                             \
    ERROR(cudaSuccess, 0, "no error")                                                                      \
    ERROR(cudaErrorInvalidValue, 1, "invalid argument")                                                    \
    ERROR(cudaErrorMemoryAllocation, 2, "out of memory")                                                   \
    ERROR(cudaErrorInitializationError, 3, "initialization error")                                         \
    ERROR(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                              \
    ERROR(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                        \
    ERROR(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                             \
    ERROR(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                     \
    ERROR(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                        \
    ERROR(cudaErrorInvalidFilterSetting, 26, "invalid filter setting")                                     \
    ERROR(cudaErrorInvalidNormSetting, 27, "invalid norm setting")                                         \
    ERROR(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
    ERROR(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                   \
    ERROR(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                    \
    ERROR(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                           \
    ERROR(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                  \
    ERROR(cudaErrorNotReady, 600, "device not ready")                                                      \
    ERROR(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                        \
    ERROR(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                   \
    ERROR(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                        \
    ERROR(cudaErrorAssert, 710, "device-side assert triggered")                                            \
    ERROR(cudaErrorMisalignedAddress, 716, "misaligned address")                                           \
    ERROR(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                       \
    ERROR(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                \
    ERROR(cudaErrorNotSupported, 801, "operation not supported")                                           \
    ERROR(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")      \
    ERROR(cudaErrorUnknown, 999, "unknown error")

#define GR__CUDA_ERROR(name, number, text) name = number,
typedef enum cudaError { GR__CUDA_ERRORS(GR__CUDA_ERROR) } cudaError;
#undef GR__CUDA_ERROR
typedef enum cudaError cudaError_t;

const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);

/* --- the device --------------------------------------------------------------------------------------------------- */

/* As a GPU of compute capability 8.0 would answer. */
struct cudaDeviceProp {
    char name[256];
    unsigned char uuid[16];
    size_t totalGlobalMem, sharedMemPerBlock, totalConstMem, memPitch, textureAlignment, surfaceAlignment;
    size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin, reservedSharedMemPerBlock;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount;
    int unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
    int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
    int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize, maxTexture1D, maxTexture2D[2], maxTexture3D[3], maxTexture1DLayered[2];
    int maxTexture2DLayered[3];
};

enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited };

/* Numbers of CUDA's; others are refused with cudaErrorInvalidValue. */
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrGpuOverlap = 15,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrKernelExecTimeout = 17,
    cudaDevAttrIntegrated = 18,
    cudaDevAttrCanMapHostMemory = 19,
    cudaDevAttrComputeMode = 20,
    cudaDevAttrConcurrentKernels = 31,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrManagedMemory = 83,
    cudaDevAttrPageableMemoryAccess = 88,
    cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMemoryPoolsSupported = 115,
};

enum cudaLimit {
    cudaLimitStackSize,
    cudaLimitPrintfFifoSize,
    cudaLimitMallocHeapSize,
    cudaLimitDevRuntimeSyncDepth,
    cudaLimitDevRuntimePendingLaunchCount
};
enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault,
    cudaSharedMemBankSizeFourByte,
    cudaSharedMemBankSizeEightByte
};

typedef struct gr__cuda_pool *cudaMemPool_t; /* one, of which there is nothing to set */
enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1,
    cudaMemPoolReuseAllowOpportunistic,
    cudaMemPoolReuseAllowInternalDependencies,
    cudaMemPoolAttrReleaseThreshold
};

#define cudaDeviceScheduleAuto 0
#define cudaDeviceScheduleSpin 1
#define cudaDeviceScheduleYield 2
#define cudaDeviceScheduleBlockingSync 4
#define cudaDeviceBlockingSync 4
#define cudaDeviceMapHost 8
#define cudaCpuDeviceId (-1)
#define cudaInvalidDeviceId (-2)

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *properties);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaThreadExit(void);
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config);
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

/* --- memory ------------------------------------------------------------------------------------------------------- */

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly,
    cudaMemAdviseSetPreferredLocation,
    cudaMemAdviseUnsetPreferredLocation,
    cudaMemAdviseSetAccessedBy,
    cudaMemAdviseUnsetAccessedBy
};
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
struct cudaPointerAttributes {
    enum cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};
typedef struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
} cudaPitchedPtr;
typedef struct cudaExtent {
    size_t width, height, depth; /* width in bytes */
} cudaExtent;
typedef struct cudaPos {
    size_t x, y, z; /* x in bytes */
} cudaPos;
typedef struct cudaArray *cudaArray_t;
struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    struct cudaExtent extent;
    enum cudaMemcpyKind kind;
};

#define cudaHostAllocDefault 0
#define cudaHostAllocPortable 1
#define cudaHostAllocMapped 2
#define cudaHostAllocWriteCombined 4
#define cudaHostRegisterDefault 0
#define cudaHostRegisterPortable 1
#define cudaHostRegisterMapped 2
#define cudaMemAttachGlobal 1
#define cudaMemAttachHost 2
#define cudaMemAttachSingle 4

cudaError_t cudaFreeHost(void *p);
cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *p);
cudaError_t cudaMemAdvise(const void *p, size_t bytes, enum cudaMemoryAdvise advice, int device);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *p);

/* --- streams, events, graphs -------------------------------------------------------------------------------------- */

typedef void *cudaStream_t; /* a gr__simt_stream, NULL: the default stream */
typedef struct gr__cuda_event *cudaEvent_t;
typedef struct gr__simt_graph *cudaGraph_t, *cudaGraphExec_t;
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *data);
typedef void (*cudaHostFn_t)(void *data);
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};

#define cudaStreamDefault 0
#define cudaStreamNonBlocking 1
#define cudaStreamLegacy ((cudaStream_t)0)
#define cudaStreamPerThread ((cudaStream_t)0)
#define cudaEventDefault 0
#define cudaEventBlockingSync 1
#define cudaEventDisableTiming 2
#define cudaEventInterprocess 4

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);

/* --- kernels ------------------------------------------------------------------------------------------------------ */

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
};

/* --- for cuda_runtime.h: with the caller's place ------------------------------------------------------------------ */

bool gr__cuda_symbol(bool text, size_t size, size_t offset, size_t bytes, const char *file, int line);
cudaError_t gr__cuda_looked_at(cudaError_t error);
cudaError_t gr__cuda_alloc(void **p, size_t bytes, enum cudaMemoryType type, const char *file, int line);
cudaError_t gr__cuda_free(void *p, const char *file, int line);
cudaError_t gr__cuda_free_by_pointer(void *p); /* what is meant by cudaFree where it is not called */
cudaError_t gr__cuda_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream,
                          bool wait, const char *file, int line);
cudaError_t gr__cuda_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                               size_t height, enum cudaMemcpyKind kind, cudaStream_t stream, bool wait,
                               const char *file, int line);
cudaError_t gr__cuda_copy_box(const struct cudaMemcpy3DParms *p, cudaStream_t stream, bool wait, const char *file,
                              int line);
cudaError_t gr__cuda_fill_rows(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream,
                               const char *file, int line);
cudaError_t gr__cuda_fill_box(cudaPitchedPtr to, int value, cudaExtent box, cudaStream_t stream, const char *file,
                              int line);
cudaError_t gr__cuda_fill(void *p, int value, size_t bytes, cudaStream_t stream, const char *file, int line);
cudaError_t gr__cuda_record(cudaEvent_t event, cudaStream_t stream);
cudaError_t gr__cuda_wait_event(cudaStream_t stream, cudaEvent_t event);
cudaError_t gr__cuda_callback(cudaStream_t stream, cudaStreamCallback_t function, void *data);
cudaError_t gr__cuda_allow_shared(const void *function, int bytes, const char *file, int line);
int gr__cuda_blocks_at_a_time(int threads, size_t bytes, bool whole); /* on a multiprocessor; on the whole device */
void gr__cuda_look_at_argument(const gr__simt_config *config, int number, const void *p);
void gr__cuda_launch(const gr__simt_config *config);

#ifdef __cplusplus
}
#endif

#endif
