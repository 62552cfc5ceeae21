/* errors.cc - the error that is kept, the lock, what the device is called. */
#include <cstdio>
#include <cstring>

#include "tests/ptx/interpreter/settings.h"
#include "tests/ptx/runtime/runtime.h"

namespace ptx
{
static cudaError_t kept = cudaSuccess, fatal = cudaSuccess;

std::unique_lock<std::recursive_mutex> lock()
{
    static std::recursive_mutex mutex;
    return std::unique_lock<std::recursive_mutex>(mutex);
}

cudaError_t said(cudaError_t error)
{
    if (error != cudaSuccess)
        kept = error;
    return error;
}

void failed(const std::string &words)
{
    fprintf(stderr, "ptx: %s\n", words.c_str());
    fatal = cudaErrorIllegalAddress;
}

cudaError_t broken_error()
{
    return fatal;
}
} // namespace ptx

using namespace ptx;

extern "C" {

cudaError_t cudaGetLastError(void)
{
    const auto held = lock();
    const cudaError_t error = fatal != cudaSuccess ? fatal : kept;
    kept = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    const auto held = lock();
    return fatal != cudaSuccess ? fatal : kept;
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorIllegalAddress:
        return "a kernel broke a rule, which the interpreter has told on stderr";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    default:
        return "an error of the CUDA runtime";
    }
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return *version = CUDART_VERSION, cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    return *version = CUDART_VERSION, cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    return *count = 1, cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return said(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    if (device != 0)
        return said(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "PTX of sm_%u, interpreted", asked().arch);
    p->major = (int)asked().arch / 10;
    p->minor = (int)asked().arch % 10;
    p->multiProcessorCount = 1;
    p->maxThreadsPerBlock = 1024;
    p->sharedMemPerBlock = 48 * 1024;
    p->warpSize = 32;
    return cudaSuccess;
}
}
