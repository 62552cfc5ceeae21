/*
 * device_memory.cc - memory of the device, each allocation in pages of its own that the next one does not touch; new
 * memory is full of NaN. The host can reach it, which a GPU's it could not: the emulator watches that.
 */
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/ptx/interpreter/regions.h"
#include "tests/ptx/runtime/runtime.h"

namespace ptx
{
enum { PAGE = 4096 };

static std::map<void *, size_t> sizes;
static std::map<const char *, size_t> pinned; /* host memory that streams may read at their leisure */

static size_t with_guard(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE + PAGE;
}

bool is_pinned(const void *p)
{
    auto next = pinned.upper_bound((const char *)p);
    return next != pinned.begin() && (--next, (const char *)p < next->first + next->second);
}

/* Large memory is filled as far as a test will use it. */
static void spoil(void *p, size_t bytes)
{
    const size_t most = (size_t)16 << 20;
    memset(p, 0xFF, bytes < most ? bytes : most);
}
} // namespace ptx

using namespace ptx;

extern "C" {

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    const auto held = lock();
    const size_t whole = with_guard(bytes);
    char *at = (char *)mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return said(cudaErrorMemoryAllocation);
    mprotect(at + whole - PAGE, PAGE, PROT_NONE);
    spoil(at, bytes);
    region_add(at, bytes);
    sizes[at] = whole;
    *p = at;
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    const auto held = lock();
    finish_all(); /* as the runtime does */
    if (!p)
        return cudaSuccess;
    if (!region_remove(p))
        return said(cudaErrorInvalidValue);
    munmap(p, sizes[p]);
    sizes.erase(p);
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    const auto held = lock();
    *p = malloc(bytes ? bytes : 1);
    if (!*p)
        return said(cudaErrorMemoryAllocation);
    pinned[(const char *)*p] = bytes;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *p)
{
    const auto held = lock();
    finish_all();
    pinned.erase((const char *)p);
    free(p);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *bytes)
{
    *free_bytes = *bytes = (size_t)8 << 30;
    return cudaSuccess;
}

/* Of an ordinary host array, as the runtime does it: taken before the call returns; into one, brought before. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t stream)
{
    const auto held = lock();
    const bool from_device = region_find((uint64_t)from), to_device = region_find((uint64_t)to);
    if (!bytes)
        return cudaSuccess;
    if ((from_device && !region_holds(from, bytes)) || (to_device && !region_holds(to, bytes)) ||
        (!from_device && !to_device)) {
        failed("a copy that leaves the device's memory");
        return said(cudaErrorInvalidValue);
    }
    if (!from_device && !is_pinned(from)) {
        const std::string taken((const char *)from, bytes);
        enqueue(stream, [=] { memcpy(to, taken.data(), bytes); });
        return broken_error();
    }
    enqueue(stream, [=] { memmove(to, from, bytes); });
    return broken_error();
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    const auto held = lock();
    if (bytes && !region_holds(p, bytes))
        return said(cudaErrorInvalidValue);
    enqueue(stream, [=] { memset(p, value, bytes); });
    return broken_error();
}
}
