/*
 * slowed.c - makes of the tool a build whose ReLU takes 3 % longer forward, whatever the machine does: it waits for
 * that share of the time that the kernel took. The linker puts the tables here in the place of the library's (--wrap).
 */
#include <string.h>

#include "core/clock.h"
#include "kernels/ops/kernels.h"

static void slow(gr_kernel_fn kernel, const gr_call *call)
{
    const int64_t begin = gr__nanoseconds();
    kernel(call);
    const int64_t took = gr__nanoseconds() - begin, end = begin + took + took * 3 / 100;
    while (gr__nanoseconds() < end)
        continue;
}

#define SLOWED(isa)                                                                                                    \
    extern const gr_kernel __real_gr__cpu_##isa##_kernels[GR_OP_COUNT];                                                \
    extern gr_kernel __wrap_gr__cpu_##isa##_kernels[GR_OP_COUNT];                                                      \
    gr_kernel __wrap_gr__cpu_##isa##_kernels[GR_OP_COUNT];                                                             \
    static void relu_##isa(const gr_call *call)                                                                        \
    {                                                                                                                  \
        slow(__real_gr__cpu_##isa##_kernels[GR_OP_relu].forward, call);                                                \
    }                                                                                                                  \
    __attribute__((constructor)) static void fill_##isa(void)                                                          \
    {                                                                                                                  \
        memcpy(__wrap_gr__cpu_##isa##_kernels, __real_gr__cpu_##isa##_kernels, sizeof __wrap_gr__cpu_##isa##_kernels); \
        __wrap_gr__cpu_##isa##_kernels[GR_OP_relu].forward = relu_##isa;                                               \
    }

SLOWED(plain)
#if defined(__x86_64__)
SLOWED(avx2)
SLOWED(avx512)
#endif
