/*
 * kernels.cc - what nvcc's host code calls: it registers its fat binaries, in which we look for the PTX of the
 * architecture that is asked for, and its kernels; and it launches them.
 */
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "tests/ptx/interpreter/coverage.h"
#include "tests/ptx/interpreter/launch.h"
#include "tests/ptx/interpreter/settings.h"
#include "tests/ptx/runtime/runtime.h"

namespace ptx
{
/* --- fat binaries ------------------------------------------------------------------------------------------------- */

/* As nvcc lays them out: a header, then entries, each behind a header of its own. Nothing is compressed here. */
struct fat_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
};
struct fat_entry {
    uint16_t kind, version; /* kind 1: PTX */
    uint32_t header_bytes;
    uint64_t bytes;
    uint32_t compressed_bytes, unknown;
    uint32_t options; /* and versions */
    uint32_t arch;    /* 80 */
};
struct fat_wrapper {
    int magic, version;
    const fat_header *data;
    void *unused;
};
enum { PTX_KIND = 1 };

/* Host code of one .cu file. */
struct binary {
    std::unique_ptr<module> code; /* NULL: no PTX of the architecture */
};

struct kernel {
    binary *home;
    std::string name;
    program *decoded;
    uint32_t dynamic_shared; /* that it was allowed; 0: as it is usual */
};

static std::map<const void *, kernel> &kernels()
{
    static auto *all = new std::map<const void *, kernel>;
    return *all;
}

static std::vector<std::unique_ptr<binary>> &binaries()
{
    static auto *all = new std::vector<std::unique_ptr<binary>>;
    return *all;
}

/* The PTX of the architecture; "": none. */
static std::string ptx_of(const fat_header *fat)
{
    const char *at = (const char *)fat + fat->header_bytes, *end = at + fat->bytes;
    while (at < end) {
        const fat_entry *e = (const fat_entry *)at;
        const char *text = at + e->header_bytes;
        if (e->kind == PTX_KIND && e->arch == asked().arch)
            return std::string(text, strnlen(text, e->bytes));
        at = text + e->bytes;
    }
    return "";
}

program *kernel_of(const void *host, std::string *why)
{
    const auto known = kernels().find(host);
    if (known == kernels().end())
        return *why = "a kernel that nobody registered", nullptr;
    kernel &k = known->second;
    if (!k.home->code)
        return *why = "no PTX of sm_" + std::to_string(asked().arch) + " in this program for " + k.name, nullptr;
    if (!k.decoded)
        k.decoded = decode(k.home->code.get(), k.name);
    return k.decoded;
}

/* --- coverage ----------------------------------------------------------------------------------------------------- */

static void write_coverage()
{
    std::vector<covered> all;
    for (const auto &k : kernels())
        all.push_back({k.second.name, k.second.decoded});
    append_coverage(asked().cover, all);
}

/* --- launches ----------------------------------------------------------------------------------------------------- */

static std::vector<char> packed(const program &p, void **arguments)
{
    std::vector<char> all(p.parameter_bytes + 1);
    for (size_t k = 0; k < p.parameters.size(); k++)
        memcpy(&all[p.parameters[k].offset], arguments[k], p.parameters[k].size);
    return all;
}

static void run_now(program *p, launch l, const std::vector<char> &arguments)
{
    try {
        l.parameters = arguments.data();
        run(p, l);
    } catch (const std::exception &e) {
        failed(e.what());
    }
}

static dim3 of(::dim3 d)
{
    return {d.x, d.y, d.z};
}

static cudaError_t start(const void *host, ::dim3 grid, ::dim3 threads, void **arguments, size_t shared,
                         cudaStream_t stream)
{
    const auto held = lock();
    if (device_of(stream) != current_device())
        return said(cudaErrorInvalidResourceHandle);
    program *p = nullptr;
    std::string why;
    try {
        p = kernel_of(host, &why);
    } catch (const std::exception &e) {
        why = e.what();
    }
    if (!p) {
        failed(why);
        return said(cudaErrorInvalidDeviceFunction);
    }
    launch l;
    l.grid = of(grid);
    l.block = of(threads);
    l.dynamic_shared = (uint32_t)shared;
    if (const uint32_t allowed = kernels().at(host).dynamic_shared)
        l.allowed_shared = p->dynamic_at + allowed;
    const auto parameters = std::make_shared<std::vector<char>>(packed(*p, arguments));
    enqueue(stream, [=] { run_now(p, l, *parameters); });
    return broken_error();
}

struct configuration {
    ::dim3 grid, threads;
    size_t shared;
    cudaStream_t stream;
};
static thread_local configuration pushed;
} // namespace ptx

using namespace ptx;

extern "C" {

void **__cudaRegisterFatBinary(void *wrapper)
{
    const auto held = lock();
    if (binaries().empty() && !asked().cover.empty())
        atexit(write_coverage);
    binaries().push_back(std::make_unique<binary>());
    std::string text = ptx_of(((const fat_wrapper *)wrapper)->data);
    if (!text.empty())
        binaries().back()->code = std::make_unique<module>(std::move(text));
    return (void **)binaries().back().get();
}

void __cudaRegisterFatBinaryEnd(void **)
{
}

void __cudaUnregisterFatBinary(void **)
{
}

void __cudaRegisterFunction(void **home, const char *host, char *, const char *name, int, uint3 *, uint3 *, ::dim3 *,
                            ::dim3 *, int *)
{
    const auto held = lock();
    kernels()[host] = {(binary *)home, name, nullptr, 0};
}

void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int)
{
}

unsigned __cudaPushCallConfiguration(::dim3 grid, ::dim3 threads, size_t shared, struct CUstream_st *stream)
{
    pushed = {grid, threads, shared, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(::dim3 *grid, ::dim3 *threads, size_t *shared, void *stream)
{
    *grid = pushed.grid;
    *threads = pushed.threads;
    *shared = pushed.shared;
    *(cudaStream_t *)stream = pushed.stream;
    return cudaSuccess;
}

/* A kernel's handle is the host's function. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    *kernel = (cudaKernel_t)host;
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, ::dim3 grid, ::dim3 threads, void **arguments, size_t shared,
                               cudaStream_t stream)
{
    return start((const void *)kernel, grid, threads, arguments, shared, stream);
}

cudaError_t cudaLaunchKernel(const void *host, ::dim3 grid, ::dim3 threads, void **arguments, size_t shared,
                             cudaStream_t stream)
{
    return start(host, grid, threads, arguments, shared, stream);
}

cudaError_t cudaFuncSetAttribute(const void *host, cudaFuncAttribute which, int value)
{
    const auto held = lock();
    const auto k = kernels().find(host);
    if (k == kernels().end() || which != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return said(cudaErrorInvalidValue);
    k->second.dynamic_shared = (uint32_t)value;
    return cudaSuccess;
}
}
