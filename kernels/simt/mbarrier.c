/*
 * mbarrier.c - barriers in shared memory that count arrivals and bytes, phase after phase (PTX ISA, "mbarrier"). What
 * they have counted is kept beside the memory in which they lie.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/async.h"

enum { BYTES = 8, MOST_ARRIVALS = (1 << 20) - 1, MOST_BYTES = (1 << 20) - 1 };

struct gr__simt_async *gr__simt_async_here(gr__simt_machine *m)
{
    if (!m->async)
        m->async = calloc(1, sizeof *m->async);
    if (!m->async)
        gr__simt_report(m, "out of memory: barriers in memory, tiles and products under way");
    else if (m->async->block != m->block)
        m->async->block = m->block, m->async->barriers = m->async->tiles = 0;
    return m->async;
}

int gr__simt_mbarriers(const gr__simt_machine *m)
{
    return m->async && m->async->block == m->block ? m->async->barriers : 0;
}

gr__simt_mbarrier *gr__simt_find_mbarrier(gr__simt_machine *m, const void *p, const char *what, const char *file,
                                          int line)
{
    char name[256];
    for (int i = 0; i < gr__simt_mbarriers(m); i++)
        if (m->async->barrier[i].at == p)
            return &m->async->barrier[i];
    gr__simt_name_address(m, p, name, sizeof name);
    gr__simt_report(m, "mbarrier: %s at %s:%d on %s, which was not initialised", what, gr__simt_short(file), line,
                    name);
    return NULL;
}

static int number_of(const gr__simt_machine *m, const gr__simt_mbarrier *b)
{
    return (int)(b - m->async->barrier);
}

/* A place for a barrier at p: the one that lay there, or a new one. */
static gr__simt_mbarrier *place_for(struct gr__simt_async *a, const void *p)
{
    for (int i = 0; i < a->barriers; i++)
        if (a->barrier[i].at == p)
            return &a->barrier[i];
    return a->barriers < GR__SIMT_MBARRIERS ? &a->barrier[a->barriers++] : NULL;
}

void gr__simt_mbarrier_init(void *barrier, int arrivals, const char *file, int line)
{
    gr__simt_machine *m = gr__simt_now;
    if (!gr__simt_in_shared(m, barrier) || (uintptr_t)barrier % BYTES)
        gr__simt_report(m, "mbarrier: %s:%d makes one at what is no multiple of 8 in shared memory",
                        gr__simt_short(file), line);
    if (arrivals < 1 || arrivals > MOST_ARRIVALS)
        gr__simt_report(m, "mbarrier: %s:%d counts %d arrivals", gr__simt_short(file), line, arrivals);
    gr__simt_mbarrier *b = place_for(gr__simt_async_here(m), barrier);
    if (!b)
        gr__simt_report(m, "mbarrier: %s:%d is one more than the emulator has room for", gr__simt_short(file), line);
    gr__simt_touch(m, m->current, barrier, BYTES, true, file, line);
    memset(barrier, 0, BYTES);
    *b = (gr__simt_mbarrier){.at = barrier, .count = arrivals, .pending = arrivals};
    gr__simt_shadow_mbarrier(m, number_of(m, b));
}

/* Whether t waits at the barrier. */
static bool waits(const gr__simt_thread *t, const gr__simt_mbarrier *b)
{
    return t->state == GR__SIMT_AT_MBARRIER && t->argument == b->at;
}

/* The next phase begins if this one is complete. */
static void advance(gr__simt_machine *m, gr__simt_mbarrier *b)
{
    if (b->pending || b->bytes)
        return;
    b->phase++;
    b->pending = b->count;
    gr__simt_shadow_completes(m, number_of(m, b));
    for (int i = 0; i < m->threads; i++) {
        gr__simt_thread *t = &m->thread[m->order == GR__SIMT_REVERSE ? m->threads - 1 - i : i];
        if (waits(t, b))
            gr__simt_wake(m, t);
    }
}

void gr__simt_mbarrier_bytes(gr__simt_machine *m, gr__simt_mbarrier *b, int64_t bytes)
{
    b->bytes -= bytes;
    advance(m, b);
}

int gr__simt_mbarrier_arrive(void *barrier, int bytes, const char *file, int line)
{
    gr__simt_machine *m = gr__simt_now;
    gr__simt_mbarrier *b = gr__simt_find_mbarrier(m, barrier, "an arrival", file, line);
    gr__simt_touch_atomic(m, barrier, BYTES, false, file, line);
    if (!b->pending)
        gr__simt_report(m,
                        "mbarrier: %s:%d arrives once more than the %d that it counts, in phase %u, for which %lld "
                        "bytes are still to come",
                        gr__simt_short(file), line, b->count, b->phase, (long long)b->bytes);
    if (bytes < -1 || bytes > MOST_BYTES)
        gr__simt_report(m, "mbarrier: %s:%d tells of %d bytes", gr__simt_short(file), line, bytes);
    gr__simt_shadow_arrives(m, number_of(m, b));
    const int parity = (int)(b->phase & 1);
    b->bytes += bytes > 0 ? bytes : 0;
    b->pending--;
    advance(m, b);
    return parity;
}

void gr__simt_mbarrier_wait(void *barrier, int parity, const char *file, int line)
{
    gr__simt_machine *m = gr__simt_now;
    gr__simt_mbarrier *b = gr__simt_find_mbarrier(m, barrier, "a wait", file, line);
    if (parity & ~1)
        gr__simt_report(m, "mbarrier: %s:%d waits for the parity %d", gr__simt_short(file), line, parity);
    gr__simt_touch_atomic(m, barrier, BYTES, false, file, line);
    while ((b->phase & 1) == (unsigned)parity) {
        m->current->argument = b->at;
        gr__simt_suspend(m, GR__SIMT_AT_MBARRIER, file, line);
    }
    gr__simt_shadow_waited(m, number_of(m, b));
}

void gr__simt_fence_async(void)
{
    gr__simt_machine *m = gr__simt_now;
    for (int i = 0; i < gr__simt_mbarriers(m); i++)
        m->async->barrier[i].fenced = true;
    gr__simt_shadow_fence_async(m);
}

void gr__simt_list_mbarriers(gr__simt_machine *m, char *text, size_t room)
{
    for (int i = 0; i < gr__simt_mbarriers(m); i++) {
        const gr__simt_mbarrier *b = &m->async->barrier[i];
        char name[256];
        int waiting = 0;
        for (int t = 0; t < m->threads; t++)
            waiting += waits(&m->thread[t], b);
        if (!waiting)
            continue;
        gr__simt_name_address(m, b->at, name, sizeof name);
        const size_t used = strlen(text);
        snprintf(
            text + used, room - used,
            "\n  the mbarrier on %s, for which %d threads wait: its phase %u wants %d of %d arrivals and %lld bytes",
            name, waiting, b->phase, b->pending, b->count, (long long)b->bytes);
    }
}
