/* devices.cc - how many devices there are, what they are called, and which one each thread's calls are about. */
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>

#include "tests/ptx/interpreter/settings.h"
#include "tests/ptx/runtime/runtime.h"

namespace ptx
{
static thread_local int current; /* the first one in every new thread */

int current_device()
{
    return current;
}

static bool is_device(int device)
{
    return device >= 0 && device < (int)asked().devices;
}
} // namespace ptx

using namespace ptx;

extern "C" {

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
    return *count = (int)asked().devices, cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    return *device = current, cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (!is_device(device))
        return said(cudaErrorInvalidDevice);
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    if (!is_device(device))
        return said(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "PTX of sm_%u, interpreted", asked().arch);
    p->uuid.bytes[0] = (char)(device + 1);
    p->major = (int)asked().arch / 10;
    p->minor = (int)asked().arch % 10;
    p->multiProcessorCount = p->major >= 9 ? 132 : p->major >= 8 ? 108 : 40; /* H100, A100, T4 */
    p->maxThreadsPerBlock = 1024;
    p->sharedMemPerBlock = 48 * 1024;
    p->warpSize = 32;
    return cudaSuccess;
}
}
