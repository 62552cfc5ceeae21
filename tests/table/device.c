/* device.c - which kernel tables there are. */
#include "tests/table/device.h"

#include <string.h>

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
#endif

const table_device table_devices[] = {
    {"ref-f64", GR_F64, gr__ref_f64_kernels, false, NULL},
    {"ref-f32", GR_F32, gr__ref_f32_kernels, false, NULL},
    {"plain", GR_F32, gr__cpu_plain_kernels, true, NULL},
#if defined(__x86_64__)
    {"avx2", GR_F32, gr__cpu_avx2_kernels, true, has_avx2},
    {"avx512", GR_F32, gr__cpu_avx512_kernels, true, has_avx512},
#endif
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
