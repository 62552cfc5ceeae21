/*
 * fiber.c - stacks, and the switch between them: 15 instructions on x86-64, ucontext elsewhere (two system calls a
 * switch).
 */
#include "kernels/simt/fiber.h"

#include <stdint.h>
#include <sys/mman.h>

enum { PAGE = 4096, STAGGER = 192, STAGGERS = 61 };

#if defined(GR__SIMT_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

static void before_switch(gr__simt_fiber *from, const gr__simt_fiber *to)
{
    __sanitizer_start_switch_fiber(&from->fake, to->low, to->bytes);
}
static void after_switch(gr__simt_fiber *back_in)
{
    __sanitizer_finish_switch_fiber(back_in->fake, NULL, NULL);
}
static void clean_stack(const gr__simt_fiber *f)
{
    __asan_unpoison_memory_region(f->low, f->bytes);
}
void gr__simt_fiber_begun(gr__simt_fiber *launcher)
{
    const void *low;
    size_t bytes;
    __sanitizer_finish_switch_fiber(NULL, &low, &bytes);
    if (!launcher->low)
        launcher->low = low, launcher->bytes = bytes;
}
#else
static void before_switch(gr__simt_fiber *from, const gr__simt_fiber *to)
{
    (void)from, (void)to;
}
static void after_switch(gr__simt_fiber *back_in)
{
    (void)back_in;
}
static void clean_stack(const gr__simt_fiber *f)
{
    (void)f;
}
void gr__simt_fiber_begun(gr__simt_fiber *launcher)
{
    (void)launcher;
}
#endif

bool gr__simt_stacks_open(gr__simt_stacks *s, int count)
{
    s->mapped = ((size_t)count + 1) * GR__SIMT_STACK;
    s->mapping = mmap(NULL, s->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s->mapping == MAP_FAILED)
        return false;
    s->memory = (char *)(((uintptr_t)s->mapping + GR__SIMT_STACK - 1) & ~(uintptr_t)(GR__SIMT_STACK - 1));
    s->count = count;
    return true;
}

void gr__simt_stacks_close(gr__simt_stacks *s)
{
    if (s->memory)
        munmap(s->mapping, s->mapped);
    s->memory = NULL;
}

#if defined(GR__SIMT_OWN_SWITCH)
/* Saves what a call must preserve on the stack that is left, changes stacks, and takes the same from the other one. */
void gr__simt_switch_stacks(void **left, void *entered) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".globl gr__simt_switch_stacks\n"
        ".hidden gr__simt_switch_stacks\n"
        ".type gr__simt_switch_stacks, @function\n"
        "gr__simt_switch_stacks:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size gr__simt_switch_stacks, . - gr__simt_switch_stacks\n");

/* The stack as if body had been called from nowhere (a backtrace ends there) and left before its first instruction. */
static void set_up(gr__simt_fiber *f, void (*body)(void))
{
    enum { SAVED = 6 };
    void **sp = (void **)(((uintptr_t)f->low + f->bytes) & ~(uintptr_t)15);
    *--sp = NULL;
    *--sp = (void *)(uintptr_t)body;
    for (int i = 0; i < SAVED; i++)
        *--sp = NULL;
    f->sp = sp;
}

static void change(gr__simt_fiber *from, gr__simt_fiber *to)
{
    gr__simt_switch_stacks(&from->sp, to->sp);
}
#else
static void set_up(gr__simt_fiber *f, void (*body)(void))
{
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = (void *)f->low;
    f->context.uc_stack.ss_size = f->bytes;
    f->context.uc_link = NULL;
    makecontext(&f->context, body, 0);
}

static void change(gr__simt_fiber *from, gr__simt_fiber *to)
{
    enum { FRAME = 1024 }; /* this function's is smaller */
    from->sp = (char *)__builtin_frame_address(0) - FRAME;
    swapcontext(&from->context, &to->context);
}
#endif

void gr__simt_fiber_start(gr__simt_fiber *f, const gr__simt_stacks *s, int i, void (*body)(void))
{
    char *memory = s->memory + (size_t)i * GR__SIMT_STACK;
    mprotect(memory, PAGE, PROT_NONE);
    f->low = memory + PAGE;
    f->bytes = GR__SIMT_STACK - PAGE - (size_t)(i % STAGGERS) * STAGGER - s->lower;
    f->fake = NULL;
    clean_stack(f);
    set_up(f, body);
}

char *gr__simt_fiber_used(const gr__simt_fiber *f, size_t *bytes)
{
    char *const low = (char *)f->low, *const used = (char *)f->sp > low ? f->sp : low;
    *bytes = (size_t)(low + f->bytes - used);
    return used;
}

void gr__simt_fiber_switch(gr__simt_fiber *from, gr__simt_fiber *to)
{
    before_switch(from, to);
    change(from, to);
    after_switch(from);
}
