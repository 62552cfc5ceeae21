/*
 * global_cells.c - who touched which bytes of a registered buffer. Launches are ordered by their streams and events,
 * the blocks of a launch by fences and atomics alone, the threads of a block by their clocks.
 *
 * What is known is kept for 16 bytes as a whole, which most accesses fill, and for a word of them where a word or less
 * was touched alone: the last write and the last read. Neighbours narrower than a word may push each other's record
 * out, which hides a race but never invents one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/simt/check/check.h"
#include "kernels/simt/item.h"

enum { WORD = 4, CHUNK = 16, WORDS = CHUNK / WORD, ALL_BYTES = 15 };
#define SEVERAL 0xFFFFFFFFu

/* One kind of access to some bytes. */
typedef struct {
    gr__simt_record by;
    uint32_t block;        /* SEVERAL: more than one of the launch read the same bytes, in no order */
    uint32_t stream, time; /* of the launch */
} trace;

typedef struct {
    trace write, read;
} cell;

typedef struct {
    cell whole;
    unsigned words; /* a bit for each that has a cell of its own */
} chunk;

/* A buffer's shadow: chunks, and behind them the words' cells. */
typedef struct {
    chunk *chunk;
    cell *word;
} shadow;

void gr__simt_shadow_forget(gr__simt_buffer *b)
{
    free(b->shadow);
    b->shadow = NULL;
}

static bool same_launch(const gr__simt_machine *m, const trace *t)
{
    return t->stream == (uint32_t)m->queue.running && t->time == m->queue.now.at[m->queue.running];
}

/* Why an earlier access and this one are in no order and must be; NULL: they are, or need not. */
static const char *collision(gr__simt_machine *m, const trace *t, const gr__simt_access *a, unsigned bytes)
{
    if (!t->by.epoch || !(t->by.bytes & bytes) || (t->by.atomic && a->atomic))
        return NULL;
    if (!same_launch(m, t))
        return t->time > m->queue.now.at[t->stream] ? " in another stream, unordered," : NULL;
    if (t->block != m->shadow->block)
        return gr__simt_fences_tell(m, t->block, t->by, a->by) ? NULL : " in another block, unordered,";
    return gr__simt_happened_before(m, t->by, a->by) ? NULL : ", unordered,";
}

/* bytes: those of the cell's words that are touched, of all its words the same. */
static bool check_cell(gr__simt_machine *m, const cell *c, const gr__simt_access *a, unsigned bytes)
{
    /* Who reads and then compares and swaps may read what is changing: the swap finds out. */
    const bool tried = c->write.by.compares && !a->write;
    const char *after_write = tried ? NULL : collision(m, &c->write, a, bytes);
    const char *after_read = a->write && !a->compares && !after_write ? collision(m, &c->read, a, bytes) : NULL;
    char what[96];
    if (!after_write && !after_read)
        return true;
    snprintf(what, sizeof what, "%s after %s%s", a->write ? "write" : "read", after_write ? "write" : "read",
             after_write ? after_write : after_read);
    gr__simt_report_access(m, a, "race", what, after_write ? &c->write.by : &c->read.by);
    return false;
}

static void remember(gr__simt_machine *m, cell *c, const gr__simt_access *a, unsigned bytes)
{
    trace *t = a->write ? &c->write : &c->read;
    const bool same_bytes = t->by.epoch && t->by.bytes & bytes;
    /* Who writes behind a read that another block's came before, as under a lock, comes after both. */
    const bool several = !a->write && same_bytes && same_launch(m, t) && t->block != m->shadow->block &&
                         !gr__simt_fences_tell(m, t->block, t->by, a->by);
    const uint32_t stream = (uint32_t)m->queue.running;
    const gr__simt_record now = {gr__simt_epoch(m, a->by), a->site, bytes, a->atomic, a->compares};
    *t = (trace){now, several ? SEVERAL : m->shadow->block, stream, m->queue.now.at[stream]};
}

/*
 * An access to a whole chunk. What came before a write is forgotten: who comes after the write comes after that, too.
 * Words are looked at first: a kernel touched them, not a copy in a stream, and a report shall name its line.
 */
static bool touch_chunk(gr__simt_machine *m, chunk *c, const cell *word, const gr__simt_access *a)
{
    for (size_t w = 0; c->words && w < WORDS; w++)
        if (c->words >> w & 1 && !check_cell(m, &word[w], a, ALL_BYTES))
            return false;
    if (!check_cell(m, &c->whole, a, ALL_BYTES))
        return false;
    if (a->write)
        c->words = 0;
    remember(m, &c->whole, a, ALL_BYTES);
    return true;
}

static bool touch_word(gr__simt_machine *m, chunk *c, cell *word, unsigned bit, const gr__simt_access *a,
                       unsigned bytes)
{
    if (!(c->words & bit))
        *word = (cell){0}, c->words |= bit;
    if (!check_cell(m, word, a, bytes) || !check_cell(m, &c->whole, a, bytes))
        return false;
    remember(m, word, a, bytes);
    return true;
}

/* Bytes first to end of the buffer, as far as they lie in first's chunk. */
static bool touch_part(gr__simt_machine *m, const shadow *s, const gr__simt_access *a, size_t first, size_t end)
{
    const size_t i = first / CHUNK, behind = (i + 1) * CHUNK;
    chunk *c = &s->chunk[i];
    if (first % CHUNK == 0 && end >= behind)
        return touch_chunk(m, c, &s->word[i * WORDS], a);
    for (size_t w = first / WORD; w * WORD < end && w < behind / WORD; w++) {
        unsigned bytes = 0;
        for (size_t k = 0; k < WORD; k++)
            bytes |= (unsigned)(w * WORD + k >= first && w * WORD + k < end) << k;
        if (!touch_word(m, c, &s->word[w], 1u << w % WORDS, a, bytes))
            return false;
    }
    return true;
}

/*
 * Whether a kernel's access reads what nobody wrote. Bytes between a struct's members are written by nobody: it is
 * enough that one byte of the access was.
 */
static bool unwritten(const gr__simt_buffer *b, const gr__simt_access *a)
{
    const size_t first = (size_t)(a->p - b->low);
    for (size_t i = first; i < first + a->bytes; i++)
        if (b->written[i / 8] >> i % 8 & 1)
            return false;
    return true;
}

void gr__simt_check_buffer(gr__simt_machine *m, gr__simt_buffer *b, const gr__simt_access *a)
{
    const size_t chunks = b->bytes / CHUNK + 1;
    if (a->p + a->bytes > b->low + b->bytes) {
        gr__simt_report_bounds(m, a);
        return;
    }
    if (b->written && m->current && (!a->write || a->atomic) && unwritten(b, a))
        gr__simt_read_unwritten(m, a);
    if (b->written && a->write)
        gr__simt_written(a->p, a->bytes);
    if (!b->shadow)
        b->shadow = calloc(chunks, sizeof(chunk) + WORDS * sizeof(cell));
    if (!b->shadow) {
        gr__simt_report(m, "out of memory: shadow of a buffer of %zu bytes", b->bytes);
        return;
    }
    const shadow s = {b->shadow, (cell *)((chunk *)b->shadow + chunks)};
    const size_t begin = (size_t)(a->p - b->low), end = begin + a->bytes;
    for (size_t first = begin; first < end; first = (first / CHUNK + 1) * CHUNK)
        if (!touch_part(m, &s, a, first, end))
            return;
}

/* What of a cell an access of the host meets that a kernel may still be at; NULL: nothing. Atomics are for that. */
static const trace *under_way(const gr__simt_machine *m, const cell *c, bool write, unsigned bytes)
{
    const trace *const both[] = {&c->write, write ? &c->read : &c->write};
    for (int i = 0; i < 2; i++)
        if (both[i]->by.epoch && both[i]->by.bytes & bytes && !both[i]->by.atomic && both[i]->stream == 0 &&
            both[i]->time > m->queue.waited)
            return both[i];
    return NULL;
}

static void tell_of_host(gr__simt_machine *m, const gr__simt_access *a, const char *what, const gr__simt_record *other)
{
    gr__simt_report_access(m, a, "host race", what, other);
    m->memory.host_waits();
}

void gr__simt_check_host(gr__simt_machine *m, const gr__simt_access *a)
{
    const gr__simt_buffer *b = gr__simt_find_buffer(m, a->p);
    if (!b || b->owned || a->p + a->bytes > b->low + b->bytes)
        return;
    if (gr__simt_meets_copy(m, a->p, a->bytes, a->write))
        tell_of_host(m, a,
                     a->write ? "the host writes what a copy in a stream may still be at,"
                              : "the host reads what a copy in a stream may still write,",
                     NULL);
    if (!b->shadow || m->queue.waited == m->queue.host.at[0])
        return;
    const chunk *const chunks = b->shadow;
    const cell *const words = (const cell *)(chunks + b->bytes / CHUNK + 1);
    const size_t begin = (size_t)(a->p - b->low), end = begin + a->bytes;
    const trace *met = NULL;
    for (size_t i = begin; i < end && !met; i++) {
        const chunk *c = &chunks[i / CHUNK];
        const unsigned byte = 1u << i % WORD;
        if (c->words >> i / WORD % WORDS & 1)
            met = under_way(m, &words[i / WORD], a->write, byte);
        met = met ? met : under_way(m, &c->whole, a->write, byte);
    }
    if (!met)
        return;
    m->queue.waited = m->queue.host.at[0]; /* told once for each wait that is missing */
    tell_of_host(m, a,
                 a->write ? "the host writes what a kernel may still use,"
                          : "the host reads what a kernel may still write,",
                 &met->by);
}

void gr__simt_touch_in_stream(gr__simt_machine *m, const void *p, size_t bytes, bool write)
{
    gr__simt_buffer *b = bytes && !m->fault[0] ? gr__simt_find_buffer(m, p) : NULL;
    if (b && gr__simt_shadow_launch(m)) {
        blockIdx = (uint3){0, 0, 0};
        m->thread[0].number = m->thread[0].warp = 0;
        gr__simt_shadow_block(m);
        gr__simt_check_buffer(m, b,
                              &(gr__simt_access){&m->thread[0], p, bytes, write, false,
                                                 gr__simt_site_of_line(m, "a copy in stream", m->queue.running),
                                                 false});
    }
}
