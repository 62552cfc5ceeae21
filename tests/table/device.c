/* device.c - which kernel tables there are. */
#include "tests/table/device.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/simt.h"

#if defined(__x86_64__)
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/* The best there is, where it is: has_avx512's processors alone can have it. */
static bool has_amx(void)
{
    int best = 0;
    while (gr_isa(best + 1))
        best++;
    return !strcmp(gr_isa(best), "amx");
}

/* clang 14 knows no __builtin_cpu_supports("avx512bf16"). */
static bool has_avx512_bf16(void)
{
    enum { AVX512_BF16 = 1 << 5 };
    unsigned a, b, c, d;
    return has_avx512() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & AVX512_BF16);
}
#endif

#if defined(GRADUS_WITH_CUDA)
static gr_device *cuda(void)
{
    static gr_device *device;
    static bool tried;
    const char *why;
    if (!tried)
        device = gr__cuda_device(NULL, &why);
    tried = true;
    return device;
}

static bool has_cuda(void)
{
    return cuda();
}

static bool has_cuda_tf32(void)
{
    return cuda() && cuda()->tf32;
}
#endif

const table_device table_devices[] = {
#if defined(GRADUS_WITH_CUDA)
    {"cuda", GR_F32, gr__cuda_kernels, false, has_cuda, cuda, false, false, false, 0},
    {"cuda-tf32", GR_F32, gr__cuda_kernels, false, has_cuda_tf32, cuda, false, false, true, 0},
#endif
    {"simt", GR_F32, gr__simt_kernels, false, NULL, NULL, true, false, false, 0},
    {"simt-tf32", GR_F32, gr__simt_kernels, false, NULL, NULL, true, false, true, 0},
    {"ref-f64", GR_F64, gr__ref_f64_kernels, false, NULL, NULL, false, false, false, 0},
    {"ref-f32", GR_F32, gr__ref_f32_kernels, false, NULL, NULL, false, false, false, 0},
    {"plain", GR_F32, gr__cpu_plain_kernels, true, NULL, NULL, false, false, false, 0},
#if defined(__x86_64__)
    {"avx2", GR_F32, gr__cpu_avx2_kernels, true, has_avx2, NULL, false, false, false, 0},
    {"avx512", GR_F32, gr__cpu_avx512_kernels, true, has_avx512, NULL, false, false, false, 0},
    {"avx512-bf16", GR_F32, gr__cpu_avx512_bf16_kernels, true, has_avx512_bf16, NULL, false, true, false, 0},
    {"amx", GR_F32, gr__cpu_amx_kernels, true, has_amx, NULL, false, true, false, 0},
    {"amx-bf16x3", GR_F32, gr__cpu_amx_kernels, true, has_amx, NULL, false, false, false, 2},
    {"amx-bf16x6", GR_F32, gr__cpu_amx_kernels, true, has_amx, NULL, false, false, false, 3},
#endif
    {"amx-emulated", GR_F32, gr__cpu_amx_emulated_kernels, true, NULL, NULL, false, true, false, 0},
    {"amx-emulated-bf16x3", GR_F32, gr__cpu_amx_emulated_kernels, true, NULL, NULL, false, false, false, 2},
    {"amx-emulated-bf16x6", GR_F32, gr__cpu_amx_emulated_kernels, true, NULL, NULL, false, false, false, 3},
    {"bf16-emulated", GR_F32, gr__cpu_bf16_emulated_kernels, true, NULL, NULL, false, true, false, 0},
};

const int table_device_count = sizeof table_devices / sizeof *table_devices;

const table_device *table_device_find(const char *name)
{
    for (int i = 0; i < table_device_count; i++)
        if (!strcmp(table_devices[i].name, name))
            return &table_devices[i];
    return NULL;
}

bool table_device_here(const table_device *d)
{
    return !d->supported || d->supported();
}

bool table_device_takes(const table_device *d, gr_type half)
{
    return half != GR_BF16 || !d->memory || !d->memory()->without_bf16;
}

bool table_device_watches(const table_device *d, const row *r)
{
#if defined(__SANITIZE_ADDRESS__)
    const bool sanitized = true;
#else
    const bool sanitized = false;
#endif
    return d->emulated && !r->golden && (sanitized || gr__simt_checks());
}
