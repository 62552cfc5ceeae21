/*
 * heap.c - malloc, free, new and delete in a kernel: what they give is device memory like any other, until it is given
 * back, which those want to know that check accesses. A program is linked with --wrap for each (compiler/compile.c), so
 * the linker calls these by __wrap_ and libc's by __real_. Elsewhere they are what they always are. The emulator, which
 * is linked with it, asks for memory by calloc while a kernel runs.
 */
#include <stddef.h>

#include "kernels/simt/runtime/runtime.h"

static bool given_in_kernels;

bool gr__cuda_heap_used(void)
{
    return given_in_kernels;
}

static void *given(void *p, size_t bytes)
{
    given_in_kernels |= gr__simt_in_kernel();
    if (p && gr__simt_checks() && gr__simt_in_kernel() && gr__simt_register(p, bytes) && gr__simt_expect_writes(p))
        gr__simt_call_it(p, "memory from malloc or new in a kernel");
    return p;
}

#define GIVES(name)                                \
    void *__real_##name(size_t bytes);             \
    void *__wrap_##name(size_t bytes);             \
    void *__wrap_##name(size_t bytes)              \
    {                                              \
        return given(__real_##name(bytes), bytes); \
    }
GIVES(malloc)
GIVES(_Znwm) /* operator new, new[] */
GIVES(_Znam)

#define TAKES(name)              \
    void __real_##name(void *p); \
    void __wrap_##name(void *p); \
    void __wrap_##name(void *p)  \
    {                            \
        if (gr__simt_checks())   \
            gr__simt_forget(p);  \
        __real_##name(p);        \
    }
TAKES(free)
TAKES(_ZdlPv) /* operator delete, delete[] */
TAKES(_ZdaPv)

/* With the size, which nobody needs. */
#define TAKES_SIZED(name)                      \
    void __real_##name(void *p, size_t bytes); \
    void __wrap_##name(void *p, size_t bytes); \
    void __wrap_##name(void *p, size_t bytes)  \
    {                                          \
        if (gr__simt_checks())                 \
            gr__simt_forget(p);                \
        __real_##name(p, bytes);               \
    }
TAKES_SIZED(_ZdlPvm)
TAKES_SIZED(_ZdaPvm)
