/* shared_cells.c - who touched which bytes of the block's shared memory, and how that goes together with the next access. */
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/check/check.h"

enum { CELL = GR__SIMT_CELL };
#define UNDER_WAY 0xFFFFFFFFu /* the epoch of a cp.async that has not landed */

bool gr__simt_shadow_launch(gr__simt_machine *m)
{
    if (m->shadow)
        return true;
    m->shadow = calloc(1, sizeof *m->shadow);
    if (m->shadow)
        m->shadow->cell = calloc(GR__SIMT_ARENA / CELL, sizeof *m->shadow->cell);
    return m->shadow && m->shadow->cell;
}

void gr__simt_shadow_block(gr__simt_machine *m)
{
    gr__simt_count_flush(m, ~0u);
    memset(m->shadow->cell, 0, m->shared.highest / CELL * sizeof *m->shadow->cell);
    memset(m->shadow->clock, 0, sizeof m->shadow->clock);
    for (int w = 0; w < GR__SIMT_WARPS; w++)
        m->shadow->clock[w][w] = 1;
}

void gr__simt_shadow_close(gr__simt_machine *m)
{
    if (m->shadow)
        free(m->shadow->cell);
    free(m->shadow);
}

/* Whether the access lies in one variable. */
static bool in_bounds(const gr__simt_machine *m, const gr__simt_access *a)
{
    const int owner = m->shared.owner[(a->p - m->shared.memory) / 16];
    if (!owner)
        return false;
    const gr__simt_placed *v = &m->shared.placed[owner - 1];
    return a->p >= v->at && a->p + a->bytes <= v->at + v->bytes;
}

/* Which of cell i's bytes the access touches, a bit each. */
static unsigned bytes_of_cell(const gr__simt_machine *m, const gr__simt_access *a, size_t i)
{
    const size_t first = (size_t)(a->p - m->shared.memory), end = first + a->bytes;
    unsigned bits = 0;
    for (size_t b = 0; b < CELL; b++)
        bits |= (unsigned)(i * CELL + b >= first && i * CELL + b < end) << b;
    return bits;
}

/* Whether an earlier access and this one are in no order and must be. */
static bool collides(const gr__simt_machine *m, gr__simt_record r, const gr__simt_access *a, unsigned bytes)
{
    return r.epoch && (r.bytes & bytes) && !(r.atomic && a->atomic) && !gr__simt_happened_before(m, r, a->by);
}

static void remember_read(gr__simt_cell *c, gr__simt_record now)
{
    const int before = gr__simt_epoch_thread(c->read.epoch), me = gr__simt_epoch_thread(now.epoch);
    if (c->read.epoch && before / GR__SIMT_LANES != me / GR__SIMT_LANES)
        c->stranger = c->read, c->neighbour.epoch = 0;
    else if (c->read.epoch && before != me)
        c->neighbour = c->read;
    c->read = now;
}

/* The reason why this access to the cell is wrong, and the access it collides with; NULL: it is right. */
static const char *find_fault(const gr__simt_machine *m, const gr__simt_cell *c, const gr__simt_access *a, unsigned bytes,
                              const gr__simt_record **other)
{
    *other = &c->write;
    if (collides(m, c->write, a, bytes))
        return a->write ? "write after write, unordered," : "read after write, unordered,";
    const gr__simt_record *const reads[] = {&c->read, &c->neighbour, &c->stranger};
    for (int i = 0; a->write && i < 3; i++) {
        *other = reads[i];
        if (collides(m, *reads[i], a, bytes))
            return "write after read, unordered,";
    }
    return NULL;
}

static bool check_cell(gr__simt_machine *m, gr__simt_cell *c, const gr__simt_access *a, unsigned bytes)
{
    const gr__simt_record *other;
    if (c->write.epoch == UNDER_WAY) {
        gr__simt_report_access(m, a, "missing wait", a->write ? "write during a cp.async" : "read during a cp.async", &c->write);
        return false;
    }
    if (!c->write.epoch && (!a->write || a->atomic)) {
        gr__simt_report_access(m, a, "uninitialised", "read", NULL);
        return false;
    }
    const char *fault = find_fault(m, c, a, bytes, &other);
    if (fault) {
        gr__simt_report_access(m, a, "race", fault, other);
        return false;
    }
    return true;
}

void gr__simt_check_shared(gr__simt_machine *m, const gr__simt_access *a)
{
    if (!in_bounds(m, a)) {
        gr__simt_report_bounds(m, a);
        return;
    }
    const size_t first = (size_t)(a->p - m->shared.memory) / CELL, last = (size_t)(a->p + a->bytes - 1 - m->shared.memory) / CELL;
    for (size_t i = first; i <= last; i++) {
        gr__simt_cell *c = &m->shadow->cell[i];
        const unsigned bytes = bytes_of_cell(m, a, i);
        const gr__simt_record now = {gr__simt_epoch(m, a->by), a->site, bytes, a->atomic};
        if (!a->write && c->read.epoch == now.epoch && c->read.bytes == bytes) /* as a moment ago */
            continue;
        if (!check_cell(m, c, a, bytes))
            return;
        if (a->write)
            *c = (gr__simt_cell){.write = now};
        else
            remember_read(c, now);
    }
}

static void mark_copy(gr__simt_machine *m, const gr__simt_copy *c, uint32_t epoch)
{
    const uint32_t site = gr__simt_site_of_line(m, c->file, c->line);
    for (size_t i = (size_t)(c->to - m->shared.memory) / CELL, end = i + (size_t)c->size / CELL; i < end; i++)
        m->shadow->cell[i] = (gr__simt_cell){.write = {epoch, site, (1 << CELL) - 1, false}};
}

void gr__simt_shadow_copy_begins(gr__simt_machine *m, const gr__simt_copy *c)
{
    gr__simt_touch(m, m->current, c->to, (size_t)c->size, true, c->file, c->line);
    mark_copy(m, c, UNDER_WAY);
}

void gr__simt_shadow_copy_lands(gr__simt_machine *m, const gr__simt_copy *c)
{
    mark_copy(m, c, gr__simt_epoch(m, m->current));
}
