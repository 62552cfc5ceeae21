/*
 * fiber.h - a stack that can be left in the middle of a function and entered again there. Each waiting CUDA thread has
 * one.
 */
#ifndef GRADUS_SIMT_FIBER_H
#define GRADUS_SIMT_FIBER_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__x86_64__) && !defined(GRADUS_SIMT_UCONTEXT)
#define GR__SIMT_OWN_SWITCH 1
#else
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define GR__SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GR__SIMT_ASAN 1
#endif
#endif

typedef struct {
#if defined(GR__SIMT_OWN_SWITCH)
    void *sp;
#else
    ucontext_t context;
    void *sp; /* nothing below it is in use */
#endif
    const void *low; /* the stack, from its lowest byte */
    size_t bytes;
    void *fake; /* AddressSanitizer's, while the fiber is left */
} gr__simt_fiber;

/*
 * Stacks for many fibers in one mapping, each at a multiple of its size, a power of two: addresses of one stack differ
 * in their low bits alone. Under each lies a page that faults. Their tops are staggered: at the same distance from a
 * page they would all share the same few sets of the first-level cache.
 */
typedef struct {
    char *memory;
    int count;
    size_t lower; /* by so many bytes the tops of stacks begun from now on are; a multiple of 16 */
    void *mapping;
    size_t mapped;
} gr__simt_stacks;

/* Reserves address space; False: there is none. */
bool gr__simt_stacks_open(gr__simt_stacks *s, int count);
void gr__simt_stacks_close(gr__simt_stacks *s);

/* Makes f stand at the beginning of body on stack i, whatever lay there. body never returns. */
void gr__simt_fiber_start(gr__simt_fiber *f, const gr__simt_stacks *s, int i, void (*body)(void));

/* Leaves from, which is running, for to. Returns when somebody switches back. */
void gr__simt_fiber_switch(gr__simt_fiber *from, gr__simt_fiber *to);

/* What is in use of a stack that was left, from its lowest byte. */
char *gr__simt_fiber_used(const gr__simt_fiber *f, size_t *bytes);

/* The first call of a body. launcher: the fiber that is the OS thread's own stack, whose bounds become known here. */
void gr__simt_fiber_begun(gr__simt_fiber *launcher);

enum {
#if defined(GR__SIMT_ASAN)
    GR__SIMT_STACK = 256 * 1024
#else
    GR__SIMT_STACK = 64 * 1024
#endif
};

/* Whether p lies in one of the stacks. */
static inline bool gr__simt_on_stack(const gr__simt_stacks *s, const void *p)
{
    return (size_t)((const char *)p - s->memory) < (size_t)s->count * GR__SIMT_STACK;
}

#endif
