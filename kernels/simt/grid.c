/*
 * grid.c - cooperative launches, whose blocks wait for each other at a barrier of the whole grid.
 *
 * A block runs until all of its threads have come to the barrier or have ended. In the first case it is set aside, and
 * the next one runs in the same places: the threads' stacks, as far as they are in use, and the shared memory are
 * copied away. When the last block has come, each is put back where it was, one after another, and goes on.
 *
 * For the check what comes behind the barrier is a launch of its own, which comes after this one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/async.h"
#include "kernels/simt/machine.h"

/* A block that is set aside. memory begins with its threads; the rest is as carry has it. */
typedef struct {
    char *memory; /* NULL: it has not been so far */
    size_t room;
    uint64_t block; /* its number, of all that the machine ran */
    bool watched;
    bool away; /* it is now */
} aside;

typedef struct {
    const char *file;
    int line;
} place;

struct gr__simt_grid {
    aside *aside; /* [blocks], as they began */
    uint64_t blocks, running;
    uint64_t waiting, ended; /* blocks that came since all of them last met; that have ended */
    bool begun;              /* they met once, at least */
    int arrived, first;      /* threads of the running block; which of them was the first */
    place at, waits;         /* where that was; where a block waits that is set aside */
};

/* --- away and back ------------------------------------------------------------------------------------------------ */

static size_t bytes_of(const gr__simt_machine *m)
{
    size_t sum = (size_t)m->threads * sizeof *m->thread + (size_t)m->fibers * sizeof *m->fiber + sizeof m->shared;
    for (int i = 0; i < m->fibers; i++) {
        size_t stack;
        gr__simt_fiber_used(&m->fiber[i], &stack);
        sum += stack;
    }
    sum += sizeof(int) + (size_t)gr__simt_mbarriers(m) * sizeof *m->async->barrier;
    return sum + m->shared.top + m->shared.top / 8 + 1;
}

/* bytes from here to *there, or back. */
static void copy(char **there, void *here, size_t bytes, bool back)
{
    if (back)
        memcpy(here, *there, bytes);
    else
        memcpy(*there, here, bytes);
    *there += bytes;
}

/* Its barriers in memory, of which more is known than what lies there. */
static void carry_mbarriers(gr__simt_machine *m, char **there, bool back)
{
    int count = gr__simt_mbarriers(m);
    copy(there, &count, sizeof count, back);
    struct gr__simt_async *const a = count ? gr__simt_async_here(m) : NULL;
    if (!a)
        return;
    a->barriers = count;
    copy(there, a->barrier, (size_t)count * sizeof *a->barrier, back);
}

/* The running block's state to memory or back. Returns the end: a bit for each byte of shared memory. */
static unsigned char *carry(gr__simt_machine *m, char *there, bool back)
{
    copy(&there, m->thread, (size_t)m->threads * sizeof *m->thread, back);
    copy(&there, m->fiber, (size_t)m->fibers * sizeof *m->fiber, back);
    copy(&there, &m->shared, sizeof m->shared, back);
    copy(&there, m->shared.memory, m->shared.top, back);
    for (int i = 0; i < m->fibers; i++) {
        size_t bytes;
        char *const stack = gr__simt_fiber_used(&m->fiber[i], &bytes);
        copy(&there, stack, bytes, back);
    }
    carry_mbarriers(m, &there, back);
    return (unsigned char *)there;
}

/* All of its threads have met, and know so. */
static void meet(gr__simt_machine *m)
{
    const unsigned warps = m->warps < GR__SIMT_WARPS ? (1u << m->warps) - 1 : ~0u;
    gr__simt_shadow_meets(m);
    gr__simt_order_warps(m, warps);
    gr__simt_count_barrier(m);
    gr__simt_watch_barrier(m, 0, warps, m->grid->at.file, m->grid->at.line);
}

void gr__simt_set_aside(gr__simt_machine *m)
{
    struct gr__simt_grid *g = m->grid;
    aside *b = &g->aside[g->running];
    meet(m);
    const size_t bytes = bytes_of(m);
    if (bytes > b->room) {
        char *more = realloc(b->memory, bytes);
        if (!more)
            gr__simt_report(m, "out of memory: a block that waits for the others of its grid");
        else
            b->memory = more, b->room = bytes;
    }
    if (m->fault[0])
        return;
    gr__simt_shadow_written(m, carry(m, b->memory, false));
    for (int i = 0; i < m->threads; i++) /* its copies under way are with it */
        m->thread[i].copies = NULL, m->thread[i].copy_count = m->thread[i].copy_room = 0;
    b->watched = m->watching, b->block = m->block;
    m->watching = false;
    b->away = true;
    g->waiting++;
    g->waits = g->at;
}

static void put_back(gr__simt_machine *m, aside *b)
{
    const size_t highest = m->shared.highest;
    for (int i = 0; i < m->threads; i++)
        free(m->thread[i].copies);
    m->fibers = m->threads, m->idles = 0; /* each waits on a stack of its own */
    const unsigned char *const written = carry(m, b->memory, true);
    m->shared.highest = m->shared.highest > highest ? m->shared.highest : highest;
    for (size_t i = 0; i < sizeof m->shared.found / sizeof *m->shared.found; i++)
        if (m->shared.found[i].block == b->block)
            m->shared.found[i].block = m->block;
    gr__simt_shadow_block(m);
    gr__simt_shadow_put_back(m, written);
    m->watching = b->watched;
    b->away = false;
}

/* --- the launch --------------------------------------------------------------------------------------------------- */

void gr__simt_grid_open(gr__simt_machine *m, uint64_t blocks)
{
    struct gr__simt_grid *g = calloc(1, sizeof *g);
    if (g)
        g->aside = calloc(blocks, sizeof *g->aside);
    if (!g || !g->aside) {
        free(g);
        gr__simt_report(m, "out of memory: the blocks of a cooperative launch");
        return;
    }
    g->blocks = blocks;
    m->grid = g;
}

/*
 * All blocks have the same stacks. Their tops differ a little, so that a debugger that waits for one thread to come
 * back from the barrier does not take another block's for it.
 */
void gr__simt_run_grid_block(gr__simt_machine *m, uint64_t number, uint3 index)
{
    enum { TOPS = 256, APART = 16 };
    struct gr__simt_grid *g = m->grid;
    g->running = number;
    g->arrived = 0;
    if (g->begun) {
        gr__simt_enter_block(m, index);
        put_back(m, &g->aside[number]);
        m->ring.head = m->ring.count = 0;
        for (int i = 0; i < m->threads; i++)
            gr__simt_wake(m, &m->thread[m->order == GR__SIMT_REVERSE ? m->threads - 1 - i : i]);
        gr__simt_go_on(m);
    } else {
        m->fibers = m->idles = 0;
        m->stacks.lower = number % TOPS * APART;
        gr__simt_run_block(m, index);
    }
}

/* A block that ends while others wait is a fault: so all wait, or none. */
bool gr__simt_grid_goes_on(gr__simt_machine *m)
{
    struct gr__simt_grid *g = m->grid;
    if (!g || m->fault[0] || !g->waiting)
        return false;
    g->waiting = 0;
    g->begun = true;
    gr__simt_time_goes_on(m);
    return gr__simt_shadow_launch(m);
}

static void drop(gr__simt_machine *m, aside *b)
{
    gr__simt_thread *const thread = (gr__simt_thread *)(void *)b->memory;
    const uint3 shape = m->launch->block;
    for (unsigned i = 0; b->away && i < shape.x * shape.y * shape.z; i++)
        free(thread[i].copies);
    if (b->away && b->watched) {
        m->watching = true;
        gr__simt_watch_block_end(m);
    }
    free(b->memory);
}

void gr__simt_grid_close(gr__simt_machine *m)
{
    struct gr__simt_grid *g = m->grid;
    if (!g)
        return;
    for (uint64_t i = 0; i < g->blocks; i++)
        drop(m, &g->aside[i]);
    free(g->aside);
    free(g);
    m->grid = NULL;
    m->fibers = m->idles = 0;
    m->stacks.lower = 0;
}

/* --- the barrier -------------------------------------------------------------------------------------------------- */

bool gr__simt_is_cooperative(void)
{
    return gr__simt_now->launch->cooperative;
}

static void check_arrival(gr__simt_machine *m, const char *file, int line)
{
    const struct gr__simt_grid *g = m->grid;
    if (!g)
        gr__simt_report(m, "grid barrier: the launch is not cooperative; at %s:%d; launched at %s:%d",
                        gr__simt_short(file), line, gr__simt_short(m->launch->file), m->launch->line);
#if defined(GR__SIMT_ASAN)
    gr__simt_report(m, "grid barrier: AddressSanitizer sees no stacks move; at %s:%d", gr__simt_short(file), line);
#endif
    if (g->ended)
        gr__simt_report(m,
                        "deadlock: %" PRIu64 " of %" PRIu64 " blocks ended and will not come to the grid's barrier; "
                        "this one waits for them at %s:%d",
                        g->ended, g->blocks, gr__simt_short(file), line);
    if (m->exited)
        gr__simt_report(m,
                        "deadlock: %d threads of the block have exited and will not come to the grid's barrier at "
                        "%s:%d",
                        m->exited, gr__simt_short(file), line);
    if (g->arrived && (line != g->at.line || strcmp(file, g->at.file)))
        gr__simt_report(m, "barrier divergence: here at the grid's barrier %s:%d; thread %d waits at another, %s:%d",
                        gr__simt_short(file), line, g->first, gr__simt_short(g->at.file), g->at.line);
}

void gr__simt_grid_barrier(const char *file, int line)
{
    gr__simt_machine *m = gr__simt_now;
    check_arrival(m, file, line);
    struct gr__simt_grid *g = m->grid;
    if (!g->arrived++)
        g->first = m->current->number, g->at = (place){file, line};
    gr__simt_suspend(m, GR__SIMT_AT_GRID_BARRIER, file, line);
}

bool gr__simt_waits_for_grid(const gr__simt_machine *m)
{
    return m->grid && m->grid->arrived == m->threads;
}

void gr__simt_grid_at_exit(gr__simt_machine *m)
{
    const struct gr__simt_grid *g = m->grid;
    if (g && g->arrived)
        gr__simt_report(m, "deadlock: a thread exits, while %d others of its block wait at the grid's barrier at %s:%d",
                        g->arrived, gr__simt_short(g->at.file), g->at.line);
}

void gr__simt_grid_at_end(gr__simt_machine *m)
{
    struct gr__simt_grid *g = m->grid;
    if (!g)
        return;
    g->ended++;
    if (g->waiting)
        gr__simt_report(m,
                        "deadlock: a block ends and will not come to the grid's barrier; %" PRIu64 " of %" PRIu64
                        " blocks wait for it at %s:%d",
                        g->waiting, g->blocks, gr__simt_short(g->waits.file), g->waits.line);
}

void gr__simt_list_grid(const gr__simt_machine *m, char *text, size_t room)
{
    const struct gr__simt_grid *g = m->grid;
    const size_t used = strlen(text);
    if (g && g->waiting)
        snprintf(text + used, room - used, "\n  %" PRIu64 " of %" PRIu64 " blocks: at the grid's barrier %s:%d",
                 g->waiting, g->blocks, gr__simt_short(g->waits.file), g->waits.line);
}
