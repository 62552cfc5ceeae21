/* count.c - what a kernel asks of the memories: for each kernel, for each place in its source, and in all. */
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/check/requests.h"

/* What was counted for a place in the source of a kernel; site WHOLE: for the kernel. */
#define WHOLE 0xFFFFFFFFu
typedef struct {
    const char *kernel;
    uint32_t site;
    gr__simt_counters counted;
} part;

struct gr__simt_tally {
    gr__simt_counters sum;
    part *part; /* a hash table of room places; kernel NULL: free */
    size_t parts, room;
};

static size_t place_of(const part *table, size_t room, const char *kernel, uint32_t site)
{
    size_t i = (site * 0x9E3779B1u ^ (uintptr_t)kernel * 0xC2B2AE35u) % room;
    while (table[i].kernel && (table[i].site != site || strcmp(table[i].kernel, kernel)))
        i = (i + 1) % room;
    return i;
}

static bool grow(struct gr__simt_tally *t)
{
    const size_t room = 2 * t->room + 256;
    part *more = calloc(room, sizeof *more);
    if (!more)
        return false;
    for (size_t i = 0; i < t->room; i++)
        if (t->part[i].kernel)
            more[place_of(more, room, t->part[i].kernel, t->part[i].site)] = t->part[i];
    free(t->part);
    t->part = more, t->room = room;
    return true;
}

/* The counters of a place in a kernel; without memory those that are thrown away. */
static gr__simt_counters *counters_of(struct gr__simt_tally *t, const char *kernel, uint32_t site)
{
    static __thread gr__simt_counters nowhere;
    if (2 * t->parts >= t->room && !grow(t))
        return &nowhere;
    part *p = &t->part[place_of(t->part, t->room, kernel, site)];
    t->parts += !p->kernel;
    p->kernel = kernel, p->site = site;
    return &p->counted;
}

static void add(gr__simt_counters *to, const gr__simt_counters *c)
{
    to->shared_requests += c->shared_requests, to->bank_conflicts += c->bank_conflicts;
    to->global_requests += c->global_requests, to->global_sectors += c->global_sectors;
    to->lanes += c->lanes;
}

/* For the sum, the kernel and the line. */
static void count(gr__simt_machine *m, uint32_t site, gr__simt_counters one)
{
    add(&m->tally->sum, &one);
    add(counters_of(m->tally, m->counted_kernel, WHOLE), &one);
    add(counters_of(m->tally, m->counted_kernel, site), &one);
}

void gr__simt_count_request(gr__simt_machine *m, const gr__simt_request *r)
{
    count(m, r->site, gr__simt_request_cost(r));
}

void gr__simt_count_tile(gr__simt_machine *m, uint32_t site, uint64_t sectors)
{
    if (m->tally)
        count(m, site, (gr__simt_counters){.global_requests = 1, .global_sectors = sectors, .lanes = 1});
}

void gr__simt_count_lost(gr__simt_machine *m)
{
    m->tally->sum.uncounted++;
}

/* --- for others --------------------------------------------------------------------------------------------------- */

bool gr__simt_count_begin(void)
{
    gr__simt_machine *m = gr__simt_here();
    if (!m)
        return false;
    gr__simt_count_close(m);
    m->tally = calloc(1, sizeof *m->tally);
    return m->tally;
}

void gr__simt_count_close(gr__simt_machine *m)
{
    gr__simt_requests_close(m);
    if (m->tally)
        free(m->tally->part);
    free(m->tally);
    m->tally = NULL;
}

gr__simt_counters gr__simt_count_end(void)
{
    gr__simt_machine *m = gr__simt_now;
    gr__simt_counters sum = {0};
    if (m && m->tally) {
        gr__simt_requests_flush(m, ~0u);
        sum = m->tally->sum;
        gr__simt_count_close(m);
    }
    return sum;
}

void gr__simt_count_lines(gr__simt_count_visit visit, void *data)
{
    gr__simt_machine *m = gr__simt_now;
    char text[512];
    if (!m || !m->tally)
        return;
    gr__simt_requests_flush(m, ~0u);
    for (size_t i = 0; i < m->tally->room; i++) {
        const part *p = &m->tally->part[i];
        if (p->kernel)
            visit(p->kernel, p->site == WHOLE ? "" : gr__simt_site_text(m, p->site, text, sizeof text), &p->counted,
                  data);
    }
}

void gr__simt_count_launch(gr__simt_machine *m)
{
    const uint3 g = m->launch->grid, b = m->launch->block;
    if (!m->tally)
        return;
    gr__simt_requests_flush(m, ~0u); /* for the kernel before */
    m->counted_kernel = m->launch->kernel;
    gr__simt_counters *const both[] = {&m->tally->sum, counters_of(m->tally, m->counted_kernel, WHOLE)};
    for (int i = 0; i < 2; i++) {
        both[i]->launches++;
        both[i]->threads += (uint64_t)g.x * g.y * g.z * b.x * b.y * b.z;
    }
}

void gr__simt_count_barrier(gr__simt_machine *m)
{
    if (!m->tally)
        return;
    m->tally->sum.barriers++;
    counters_of(m->tally, m->counted_kernel, WHOLE)->barriers++;
}
