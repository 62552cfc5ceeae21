/*
 * async.c - who knows what by barriers in memory, and what tiles and products do to shared memory.
 *
 * A thread that arrives gives away what its warp knew when its lanes last met, and what it did itself since; who waits
 * takes it, for all lanes of its warp. Tiles land one after another, the products of a warp in its order: each has a
 * clock of its own, learnt by waiting alone.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/async.h"
#include "kernels/simt/check/requests.h"

enum { SECTOR = 32 };

struct gr__simt_learnt {
    uint32_t thread[GR__SIMT_WARPS][GR__SIMT_THREADS];                      /* [warp][how far it knows of the thread] */
    uint32_t landed;                                                        /* tiles of this block */
    gr__simt_knowledge given[GR__SIMT_MBARRIERS], done[GR__SIMT_MBARRIERS]; /* in this phase; in those completed */
};

static struct gr__simt_learnt *learnt(gr__simt_machine *m)
{
    if (!m->shadow->learnt)
        m->shadow->learnt = calloc(1, sizeof *m->shadow->learnt);
    if (!m->shadow->learnt)
        gr__simt_report(m, "out of memory: what is known by barriers in memory");
    return m->shadow->learnt;
}

bool gr__simt_has_learnt(const gr__simt_machine *m, int warp, int thread, uint32_t then)
{
    return then <= m->shadow->learnt->thread[warp][thread];
}

void gr__simt_forget_learnt(gr__simt_machine *m)
{
    free(m->shadow->learnt);
    m->shadow->learnt = NULL;
}

static void join(uint32_t *to, const uint32_t *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

static void join_knowledge(gr__simt_knowledge *to, const gr__simt_knowledge *from)
{
    join(to->clock, from->clock, GR__SIMT_AGENTS);
    join(to->thread, from->thread, GR__SIMT_THREADS);
}

void gr__simt_shadow_mbarrier(gr__simt_machine *m, int barrier)
{
    struct gr__simt_learnt *l = learnt(m);
    memset(&l->given[barrier], 0, sizeof l->given[barrier]);
    memset(&l->done[barrier], 0, sizeof l->done[barrier]);
}

void gr__simt_shadow_arrives(gr__simt_machine *m, int barrier)
{
    struct gr__simt_learnt *l = learnt(m);
    const gr__simt_thread *t = m->current;
    uint32_t *clock = m->shadow->clock[t->warp], own = clock[t->warp];
    gr__simt_knowledge *given = &l->given[barrier];
    l->thread[t->warp][t->number] = own;
    clock[t->warp] = m->shadow->met[t->warp] - 1; /* what all lanes did before they last met */
    join(given->clock, clock, GR__SIMT_AGENTS);
    join(given->thread, l->thread[t->warp], GR__SIMT_THREADS);
    clock[t->warp] = own + (own < GR__SIMT_CLOCK_MAX);
}

void gr__simt_shadow_completes(gr__simt_machine *m, int barrier)
{
    struct gr__simt_learnt *l = learnt(m);
    join_knowledge(&l->done[barrier], &l->given[barrier]);
}

void gr__simt_shadow_waited(gr__simt_machine *m, int barrier)
{
    struct gr__simt_learnt *l = learnt(m);
    const int warp = m->current->warp;
    join(m->shadow->clock[warp], l->done[barrier].clock, GR__SIMT_AGENTS);
    join(l->thread[warp], l->done[barrier].thread, GR__SIMT_THREADS);
}

/* --- tiles and products ------------------------------------------------------------------------------------------- */

static uint32_t epoch_of(int thread, uint32_t clock)
{
    return (uint32_t)thread << GR__SIMT_CLOCK_BITS | clock;
}

/* The tensor is read when the copy is sent: what others write to it meanwhile is a race anyway. */
void gr__simt_shadow_tile_begins(gr__simt_machine *m, const gr__simt_tile *t)
{
    const uint32_t site = gr__simt_site_of_line(m, t->file, t->line);
    uint64_t sectors = 0;
    for (int r = 0; r < gr__simt_tile_rows(t); r++) {
        const char *from;
        size_t first;
        const size_t bytes = gr__simt_tile_row(t, r, &from, &first);
        const gr__simt_access a = {m->current, from, bytes, false, false, site, false};
        gr__simt_buffer *b = bytes ? gr__simt_find_buffer(m, from) : NULL;
        if (b)
            gr__simt_check_buffer(m, b, &a);
        else if (bytes && m->memory.strict)
            gr__simt_report_bounds(m, &a);
        if (bytes)
            sectors += ((uintptr_t)from + bytes - 1) / SECTOR - (uintptr_t)from / SECTOR + 1;
    }
    gr__simt_check_async(m, &(gr__simt_access){m->current, t->to, gr__simt_tile_bytes(t), true, false, site, false},
                         GR__SIMT_UNDER_WAY);
    gr__simt_count_tile(m, site, sectors);
}

void gr__simt_shadow_tile_lands(gr__simt_machine *m, const gr__simt_tile *t)
{
    struct gr__simt_learnt *l = learnt(m);
    l->landed += l->landed < GR__SIMT_CLOCK_MAX;
    gr__simt_mark_shared(m, t->to, gr__simt_tile_bytes(t), epoch_of(GR__SIMT_TMA_THREAD, l->landed),
                         gr__simt_site_of_line(m, t->file, t->line));
    l->given[t->barrier].clock[GR__SIMT_TMA] = l->landed;
}

void gr__simt_shadow_product_reads(gr__simt_machine *m, uint64_t number, const void *p, size_t bytes, const char *file,
                                   int line)
{
    const int warp = m->current->warp;
    const gr__simt_access a = {m->current, p, bytes, false, false, gr__simt_site_of_line(m, file, line), false};
    gr__simt_check_async(m, &a, epoch_of(GR__SIMT_PRODUCT_THREAD + warp, (uint32_t)number));
}

void gr__simt_shadow_fence_async(gr__simt_machine *m)
{
    gr__simt_let_through(m);
}

void gr__simt_shadow_products_end(gr__simt_machine *m, int warp, uint64_t count)
{
    m->shadow->clock[warp][GR__SIMT_PRODUCTS_OF + warp] = (uint32_t)count;
}
