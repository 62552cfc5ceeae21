/*
 * global_cells.c - who touched which words of a registered buffer. Launches are ordered by their streams and events, the blocks
 * of a launch not at all, the threads of a block by their clocks. A word keeps its last write and its last read: neighbours
 * narrower than a word may push each other's record out, which hides a race but never invents one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/simt/check/check.h"

enum { WORD = 4 };
#define SEVERAL 0xFFFFFFFFu

/* One kind of access to a word. */
typedef struct {
    gr__simt_record by;
    uint32_t block;        /* SEVERAL: more than one of the launch touched the same bytes */
    uint32_t stream, time; /* of the launch */
} trace;

typedef struct {
    trace write, read;
} word;

void gr__simt_shadow_forget(gr__simt_buffer *b)
{
    free(b->shadow);
    b->shadow = NULL;
}

static uint32_t this_block(void)
{
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

static bool same_launch(const gr__simt_machine *m, const trace *t)
{
    return t->stream == (uint32_t)m->queue.running && t->time == m->queue.now.at[m->queue.running];
}

/* Why an earlier access and this one are in no order and must be; NULL: they are, or need not. */
static const char *collision(const gr__simt_machine *m, const trace *t, const gr__simt_access *a, unsigned bytes)
{
    if (!t->by.epoch || !(t->by.bytes & bytes) || (t->by.atomic && a->atomic))
        return NULL;
    if (!same_launch(m, t))
        return t->time > m->queue.now.at[t->stream] ? " in another stream, unordered," : NULL;
    if (t->block != this_block())
        return " in another block, unordered,";
    return gr__simt_happened_before(m, t->by, a->by) ? NULL : ", unordered,";
}

static bool check_word(gr__simt_machine *m, const word *w, const gr__simt_access *a, unsigned bytes)
{
    const char *after_write = collision(m, &w->write, a, bytes);
    const char *after_read = a->write && !after_write ? collision(m, &w->read, a, bytes) : NULL;
    char what[96];
    if (!after_write && !after_read)
        return true;
    snprintf(what, sizeof what, "%s after %s%s", a->write ? "write" : "read", after_write ? "write" : "read",
             after_write ? after_write : after_read);
    gr__simt_report_access(m, a, "race", what, after_write ? &w->write.by : &w->read.by);
    return false;
}

static void remember(const gr__simt_machine *m, word *w, const gr__simt_access *a, gr__simt_record now)
{
    trace *t = a->write ? &w->write : &w->read;
    const bool same_bytes = t->by.epoch && t->by.bytes & now.bytes;
    const bool several = same_bytes && same_launch(m, t) && t->block != this_block();
    const uint32_t stream = (uint32_t)m->queue.running;
    *t = (trace){now, several ? SEVERAL : this_block(), stream, m->queue.now.at[stream]};
}

void gr__simt_check_buffer(gr__simt_machine *m, gr__simt_buffer *b, const gr__simt_access *a)
{
    if (a->p + a->bytes > b->low + b->bytes) {
        gr__simt_report_bounds(m, a);
        return;
    }
    if (!b->shadow)
        b->shadow = calloc(b->bytes / WORD + 1, sizeof(word));
    if (!b->shadow) {
        gr__simt_report(m, "out of memory: shadow of a buffer of %zu bytes", b->bytes);
        return;
    }
    const size_t first = (size_t)(a->p - b->low), end = first + a->bytes;
    for (size_t i = first / WORD; i <= (end - 1) / WORD; i++) {
        word *w = (word *)b->shadow + i;
        unsigned bytes = 0;
        for (size_t k = 0; k < WORD; k++)
            bytes |= (unsigned)(i * WORD + k >= first && i * WORD + k < end) << k;
        if (!check_word(m, w, a, bytes))
            return;
        remember(m, w, a, (gr__simt_record){gr__simt_epoch(m, a->by), a->site, bytes, a->atomic});
    }
}

void gr__simt_touch_in_stream(gr__simt_machine *m, const void *p, size_t bytes, bool write)
{
    gr__simt_buffer *b = bytes && !m->fault[0] ? gr__simt_find_buffer(m, p) : NULL;
    if (b && gr__simt_shadow_launch(m)) {
        blockIdx = (uint3){0, 0, 0};
        m->thread[0].number = m->thread[0].warp = 0;
        gr__simt_shadow_block(m);
        gr__simt_check_buffer(m, b, &(gr__simt_access){&m->thread[0], p, bytes, write, false,
                                                       gr__simt_site_of_line(m, "a copy in stream", m->queue.running)});
    }
}
