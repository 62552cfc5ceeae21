/*
 * shared_cells.c - who touched which bytes of the block's shared memory, and how that goes together with the next
 * access.
 *
 * Most accesses are of 16 bytes or of 4, so what is known is kept for 16 bytes as a whole, for a word of them where a
 * word was touched alone, for a byte where a byte was. An access is checked against all of these, and remembered in the
 * largest that it fills. What comes before a write is forgotten: who comes after the write comes after that, too.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/check/requests.h"

enum { WORD = 4, CHUNK = 16 };

/* Reads since the last write: the last, the last by another lane of its warp and by another warp. */
typedef struct {
    gr__simt_record write, read, neighbour, stranger;
} cell;

typedef struct {
    cell whole;
    uint64_t written; /* the period of the last write to any of it; before the block began: nothing here is valid */
    uint8_t words;    /* a bit for each that has a cell of its own */
    uint8_t torn;     /* a bit for each whose bytes have */
    bool settled;     /* see settle */
    bool stored;      /* by a thread, and no fence has let it through to copies of tiles and products */
} chunk;

struct gr__simt_cells {
    chunk chunk[GR__SIMT_ARENA / CHUNK];
    cell word[GR__SIMT_ARENA / WORD], byte[GR__SIMT_ARENA];
};

/* What an access touches of a chunk. */
typedef struct {
    chunk *of;
    cell *word, *byte; /* the chunk's 4 and 16 */
    size_t first, end; /* bytes of it */
} part;

bool gr__simt_shadow_launch(gr__simt_machine *m)
{
    if (m->shadow) {
        gr__simt_fences_launch(m);
        return true;
    }
    m->shadow = calloc(1, sizeof *m->shadow);
    if (m->shadow)
        m->shadow->cells = calloc(1, sizeof *m->shadow->cells);
    return m->shadow && m->shadow->cells;
}

void gr__simt_shadow_block(gr__simt_machine *m)
{
    gr__simt_requests_flush(m, ~0u);
    memset(m->shadow->clock, 0, sizeof m->shadow->clock);
    for (int w = 0; w < GR__SIMT_WARPS; w++)
        m->shadow->clock[w][w] = m->shadow->met[w] = 1;
    gr__simt_forget_learnt(m);
    gr__simt_fences_block(m);
    m->shadow->began = ++m->shadow->period;
    m->shadow->unwritten[0] = '\0';
    m->shadow->block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

void gr__simt_shadow_close(gr__simt_machine *m)
{
    gr__simt_requests_close(m);
    gr__simt_fences_close(m);
    if (m->shadow)
        free(m->shadow->cells);
    free(m->shadow);
    m->shadow = NULL;
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

/* Bytes first to end of shared memory, as far as they lie in first's chunk. */
static inline part part_of(struct gr__simt_shadow *s, size_t first, size_t end)
{
    const size_t i = first / CHUNK, begin = i * CHUNK;
    chunk *c = &s->cells->chunk[i];
    if (c->written < s->began)
        *c = (chunk){.written = s->began};
    return (part){c, &s->cells->word[begin / WORD], &s->cells->byte[begin], first - begin,
                  end < begin + CHUNK ? end - begin : CHUNK};
}

/* --- checking ----------------------------------------------------------------------------------------------------- */

/* Whether an earlier access and this one are in no order and must be. */
static bool collides(const gr__simt_machine *m, gr__simt_record r, const gr__simt_access *a)
{
    return r.epoch && !(r.atomic && a->atomic) && !gr__simt_happened_before(m, r, a->by);
}

/* The reason why this access to the cell is wrong, and the access it collides with; NULL: it is right. */
static const char *find_fault(const gr__simt_machine *m, const cell *c, const gr__simt_access *a,
                              const gr__simt_record **other)
{
    *other = &c->write;
    if (collides(m, c->write, a))
        return a->write ? "write after write, unordered," : "read after write, unordered,";
    const gr__simt_record *const reads[] = {&c->read, &c->neighbour, &c->stranger};
    for (int i = 0; a->write && i < 3; i++) {
        *other = reads[i];
        if (collides(m, *reads[i], a))
            return "write after read, unordered,";
    }
    return NULL;
}

static bool check_cell(gr__simt_machine *m, const cell *c, const gr__simt_access *a)
{
    const gr__simt_record *other;
    if (c->write.epoch == GR__SIMT_UNDER_WAY) {
        gr__simt_report_access(m, a, "missing wait", a->write ? "write during a copy" : "read during a copy",
                               &c->write);
        return false;
    }
    const char *fault = find_fault(m, c, a, &other);
    if (fault)
        gr__simt_report_access(m, a, "race", fault, other);
    return !fault;
}

/* Word w of a chunk, whose cell for all of it has been checked. */
static bool check_word(gr__simt_machine *m, const part *p, size_t w, const gr__simt_access *a)
{
    const bool own = p->of->words >> w & 1, torn = p->of->torn >> w & 1, reads = !a->write || a->atomic;
    const bool filled = p->of->whole.write.epoch || (own && p->word[w].write.epoch);
    if (own && !check_cell(m, &p->word[w], a))
        return false;
    for (size_t b = w * WORD; b < (w + 1) * WORD; b++) {
        if (b < p->first || b >= p->end)
            continue;
        if (torn && !check_cell(m, &p->byte[b], a))
            return false;
        if (reads && !filled && !(torn && p->byte[b].write.epoch)) {
            gr__simt_read_unwritten(m, a);
            return true;
        }
    }
    return true;
}

/*
 * Whether all of the chunk was written, and nothing of it since the block last met: then every thread may read it. A
 * tile that is filled once is read many times, and only the first read of each chunk is looked into.
 */
static bool settle(const struct gr__simt_shadow *s, const part *p)
{
    chunk *c = p->of;
    unsigned filled = c->whole.write.epoch ? 15 : 0;
    if (c->written == s->period || c->torn || gr__simt_epoch_thread(c->whole.write.epoch) >= GR__SIMT_THREADS)
        return false; /* a copy of a tile is for those alone who waited for it */
    for (int w = 0; w < CHUNK / WORD; w++) {
        const uint32_t epoch = c->words >> w & 1 ? p->word[w].write.epoch : 0;
        if (epoch == GR__SIMT_UNDER_WAY)
            return false;
        filled |= (unsigned)(epoch != 0) << w;
    }
    return c->settled = filled == 15;
}

static bool check_part(gr__simt_machine *m, const part *p, const gr__simt_access *a)
{
    if (!a->write && (p->of->settled || settle(m->shadow, p)))
        return true;
    bool right = check_cell(m, &p->of->whole, a);
    for (size_t w = p->first / WORD; right && w <= (p->end - 1) / WORD; w++)
        right = check_word(m, p, w, a);
    return right;
}

/* --- remembering -------------------------------------------------------------------------------------------------- */

static inline void remember(cell *c, bool write, gr__simt_record now)
{
    if (write) {
        *c = (cell){.write = now};
        return;
    }
    const int before = gr__simt_epoch_thread(c->read.epoch), me = gr__simt_epoch_thread(now.epoch);
    if (c->read.epoch && before / GR__SIMT_LANES != me / GR__SIMT_LANES)
        c->stranger = c->read, c->neighbour.epoch = 0;
    else if (c->read.epoch && before != me)
        c->neighbour = c->read;
    c->read = now;
}

/* In the cell of word w, or in those of its bytes. */
static void remember_in_word(const part *p, size_t w, bool write, gr__simt_record now)
{
    const size_t begin = w * WORD, end = begin + WORD;
    const uint8_t bit = (uint8_t)(1u << w);
    uint8_t *const have = begin >= p->first && end <= p->end ? &p->of->words : &p->of->torn;
    if (have == &p->of->words) {
        if (!(*have & bit))
            p->word[w] = (cell){0};
        remember(&p->word[w], write, now);
        p->of->torn &= (uint8_t)(write ? ~bit : 0xFF);
    } else {
        if (!(*have & bit))
            memset(&p->byte[begin], 0, WORD * sizeof *p->byte);
        for (size_t b = begin; b < end; b++)
            if (b >= p->first && b < p->end)
                remember(&p->byte[b], write, now);
    }
    *have |= bit;
}

static void remember_part(const struct gr__simt_shadow *s, const part *p, bool write, gr__simt_record now)
{
    if (write)
        p->of->written = s->period, p->of->settled = false;
    if (p->first == 0 && p->end == CHUNK) {
        remember(&p->of->whole, write, now);
        if (write)
            p->of->words = p->of->torn = 0;
        return;
    }
    for (size_t w = p->first / WORD; w <= (p->end - 1) / WORD; w++)
        remember_in_word(p, w, write, now);
}

/* The most frequent access: all of a chunk is read that is settled, so that it cannot be wrong, nor out of bounds. */
static bool read_settled(const struct gr__simt_shadow *s, const gr__simt_access *a, size_t begin, gr__simt_record now)
{
    chunk *c = &s->cells->chunk[begin / CHUNK];
    if (a->write || a->bytes != CHUNK || begin % CHUNK || !c->settled || c->written < s->began)
        return false;
    remember(&c->whole, false, now);
    return true;
}

/* Checks all parts and remembers them; what threads stored is marked as such, and async ones must not meet it. */
static void check_all(gr__simt_machine *m, const gr__simt_access *a, gr__simt_record now)
{
    const size_t begin = (size_t)(a->p - m->shared.memory), end = begin + a->bytes;
    const bool async = gr__simt_epoch_thread(now.epoch) >= GR__SIMT_THREADS;
    if (!in_bounds(m, a)) {
        gr__simt_report_bounds(m, a);
        return;
    }
    for (size_t first = begin; first < end; first = (first / CHUNK + 1) * CHUNK) {
        const part p = part_of(m->shadow, first, end);
        if (!check_part(m, &p, a))
            return;
        if (async && p.of->stored) {
            gr__simt_report_access(m, a, "missing fence", "no gr_fence_async since a thread wrote", NULL);
            return;
        }
        remember_part(m->shadow, &p, a->write, now);
        p.of->stored |= a->write && !async;
    }
}

void gr__simt_check_shared(gr__simt_machine *m, const gr__simt_access *a)
{
    const gr__simt_record now = {.epoch = gr__simt_epoch(m, a->by), .site = a->site, .atomic = a->atomic};
    if (!read_settled(m->shadow, a, (size_t)(a->p - m->shared.memory), now))
        check_all(m, a, now);
}

void gr__simt_check_async(gr__simt_machine *m, const gr__simt_access *a, uint32_t epoch)
{
    check_all(m, a, (gr__simt_record){.epoch = epoch, .site = a->site});
}

void gr__simt_mark_shared(gr__simt_machine *m, const void *p, size_t bytes, uint32_t epoch, uint32_t site)
{
    const size_t begin = (size_t)((const char *)p - m->shared.memory), end = begin + bytes;
    for (size_t first = begin; first < end; first = (first / CHUNK + 1) * CHUNK) {
        const part at = part_of(m->shadow, first, end);
        remember_part(m->shadow, &at, true, (gr__simt_record){.epoch = epoch, .site = site});
    }
}

/* What is known to come before the fence; of words and bytes that were written alone the last writes are looked at. */
void gr__simt_let_through(gr__simt_machine *m)
{
    for (size_t i = 0; i < m->shared.top / CHUNK; i++) {
        chunk *c = &m->shadow->cells->chunk[i];
        bool all = c->written >= m->shadow->began && c->stored;
        if (!all)
            continue;
        all &= !c->whole.write.epoch || gr__simt_happened_before(m, c->whole.write, m->current);
        for (size_t w = 0; w < CHUNK / WORD; w++) {
            const gr__simt_record r = m->shadow->cells->word[i * (CHUNK / WORD) + w].write;
            all &= !(c->words >> w & 1) || !r.epoch || gr__simt_happened_before(m, r, m->current);
        }
        c->stored = !all;
    }
}

/* As a write by the copy, which fills a word or a chunk. */
static void mark_copy(gr__simt_machine *m, const gr__simt_copy *c, uint32_t epoch)
{
    gr__simt_mark_shared(m, c->to, (size_t)c->size, epoch, gr__simt_site_of_line(m, c->file, c->line));
}

void gr__simt_shadow_copy_begins(gr__simt_machine *m, const gr__simt_copy *c)
{
    gr__simt_touch(m, m->current, c->to, (size_t)c->size, true, c->file, c->line);
    mark_copy(m, c, GR__SIMT_UNDER_WAY);
}

void gr__simt_shadow_copy_lands(gr__simt_machine *m, const gr__simt_copy *c)
{
    mark_copy(m, c, gr__simt_epoch(m, m->current));
}

/* --- blocks that are set aside ------------------------------------------------------------------------------------ */

static bool is_written(const struct gr__simt_shadow *s, size_t at)
{
    const chunk *c = &s->cells->chunk[at / CHUNK];
    const unsigned w = at % CHUNK / WORD;
    return c->written >= s->began &&
           (c->whole.write.epoch || (c->words >> w & 1 && s->cells->word[at / WORD].write.epoch) ||
            (c->torn >> w & 1 && s->cells->byte[at].write.epoch));
}

void gr__simt_shadow_written(gr__simt_machine *m, unsigned char *bits)
{
    memset(bits, 0, m->shared.top / 8 + 1);
    for (size_t i = 0; i < m->shared.top; i++)
        bits[i / 8] |= (unsigned char)(is_written(m->shadow, i) << i % 8);
}

/* By a write that every thread knows of, and the copies that have not landed. */
void gr__simt_shadow_put_back(gr__simt_machine *m, const unsigned char *bits)
{
    const uint32_t long_ago = 1u << GR__SIMT_CLOCK_BITS;
    for (size_t first = 0, end; first < m->shared.top; first = end) {
        for (end = first; end < m->shared.top && bits[end / 8] >> end % 8 & 1; end++)
            ;
        gr__simt_mark_shared(m, m->shared.memory + first, end - first, long_ago, 0);
        end += end == first;
    }
    for (int t = 0; t < m->threads; t++)
        for (int i = 0; i < m->thread[t].copy_count; i++)
            mark_copy(m, &m->thread[t].copies[i], GR__SIMT_UNDER_WAY);
}
