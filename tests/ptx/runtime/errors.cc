/* errors.cc - the error that is kept, and the lock. */
#include <cstdio>
#include <cstring>

#include "tests/ptx/runtime/runtime.h"

namespace ptx
{
static thread_local cudaError_t kept = cudaSuccess;
static cudaError_t fatal = cudaSuccess;

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
}
