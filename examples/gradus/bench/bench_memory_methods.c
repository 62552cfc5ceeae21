/* bench_memory_methods.c - see bench_memory_methods.h; the cache is in bench_memory_cache.c. */
#include "bench/bench_memory_methods.h"

#include <stdlib.h>
#include <sys/mman.h>

static const size_t MIB = 1 << 20;

const char *const memory_method_names[MEMORY_METHODS + 1] = {"planned", "caching", "malloc", "no-reuse", NULL};

memory_block *memory_piece(memory_lender *l, memory_block **link, size_t size)
{
    memory_block *b = calloc(1, sizeof *b);
    void *p = b ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    l->system++;
    if (p == MAP_FAILED) {
        free(b);
        return NULL;
    }
    if (size >= 2 * MIB)
        madvise(p, size, MADV_HUGEPAGE);
    *b = (memory_block){.next = *link, .at = p, .size = size, .piece = size};
    return *link = b;
}

/* --- malloc for each tensor --------------------------------------------------------------------------------------- */

static void *system_take(void *lender, size_t bytes)
{
    enum { ALIGNMENT = 256 };
    memory_lender *l = lender;
    l->asked++;
    l->system++;
    return aligned_alloc(ALIGNMENT, bytes);
}

static void system_give(void *lender, void *p, size_t bytes)
{
    (void)lender, (void)bytes;
    free(p);
}

/* --- nothing twice ------------------------------------------------------------------------------------------------ */

/* The next bytes of the pieces, which are used one behind the other and from the start again with every update. */
static void *fresh_take(void *lender, size_t bytes)
{
    const size_t piece = 64 * MIB;
    memory_lender *l = lender;
    memory_block **link = l->now ? &l->now : &l->blocks;
    l->asked++;
    while (*link && l->used + bytes > (*link)->size) {
        link = &(*link)->next;
        l->used = 0;
    }
    l->now = *link ? *link : memory_piece(l, link, bytes > piece ? bytes : piece);
    if (!l->now)
        return NULL;
    l->used += bytes;
    return l->now->at + l->used - bytes;
}

static void fresh_give(void *lender, void *p, size_t bytes)
{
    (void)lender, (void)p, (void)bytes;
}

static void fresh_step_end(void *lender)
{
    memory_lender *l = lender;
    l->now = NULL;
    l->used = 0;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

void memory_lender_open(memory_lender *l, memory_method method)
{
    static const gr_allocator allocators[MEMORY_METHODS] = {
        [MEMORY_CACHING] = {memory_cache_take, memory_cache_give, NULL, NULL},
        [MEMORY_SYSTEM] = {system_take, system_give, NULL, NULL},
        [MEMORY_NO_REUSE] = {fresh_take, fresh_give, fresh_step_end, NULL}};
    l->allocator = allocators[method];
    l->allocator.user = l;
}

void memory_lender_close(memory_lender *l)
{
    while (l->blocks) {
        memory_block *b = l->blocks;
        l->blocks = b->next;
        if (b->piece)
            munmap(b->at, b->piece);
        free(b);
    }
}
