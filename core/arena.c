/* arena.c - first-fit placement in chunks; see arena.h. */
#include "core/arena.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t offset, size;
} range;

typedef struct {
    char *base;
    int64_t size, peak;
    range *used; /* taken blocks in order of offset */
    int n, capacity;
} chunk;

struct gr_arena {
    chunk *chunks;
    int n, capacity;
    int64_t used, most; /* bytes in blocks: now, and at most since gr__arena_take_most */
};

gr_arena *gr__arena_create(void)
{
    return calloc(1, sizeof(gr_arena));
}

void gr__arena_destroy(gr_arena *a)
{
    if (!a)
        return;
    gr__arena_drop_chunks(a);
    free(a->chunks);
    free(a);
}

void gr__arena_drop_chunks(gr_arena *a)
{
    for (int i = 0; i < a->n; i++)
        free(a->chunks[i].used);
    a->n = 0;
    a->used = 0;
}

bool gr__arena_add_chunk(gr_arena *a, void *base, int64_t size)
{
    if (a->n == a->capacity) {
        int capacity = a->capacity ? 2 * a->capacity : 4;
        chunk *grown = realloc(a->chunks, (size_t)capacity * sizeof *grown);
        if (!grown)
            return false;
        a->chunks = grown;
        a->capacity = capacity;
    }
    a->chunks[a->n++] = (chunk){.base = base, .size = size};
    return true;
}

int gr__arena_chunks(const gr_arena *a)
{
    return a->n;
}

void *gr__arena_base(const gr_arena *a, int i)
{
    return a->chunks[i].base;
}

int64_t gr__arena_chunk_size(const gr_arena *a, int i)
{
    return a->chunks[i].size;
}

/* Index in used[] before which a block of size fits, and its offset; -1 if it fits nowhere. */
static int first_gap(const chunk *c, int64_t size, int64_t *offset)
{
    int64_t end = 0; /* of the block before the gap */
    for (int i = 0; i < c->n; i++) {
        if (c->used[i].offset - end >= size) {
            *offset = end;
            return i;
        }
        end = c->used[i].offset + c->used[i].size;
    }
    *offset = end;
    return c->size - end >= size ? c->n : -1;
}

static bool insert(chunk *c, int at, int64_t offset, int64_t size)
{
    if (c->n == c->capacity) {
        int capacity = c->capacity ? 2 * c->capacity : 32;
        range *grown = realloc(c->used, (size_t)capacity * sizeof *grown);
        if (!grown)
            return false;
        c->used = grown;
        c->capacity = capacity;
    }
    memmove(c->used + at + 1, c->used + at, (size_t)(c->n - at) * sizeof *c->used);
    c->used[at] = (range){offset, size};
    c->n++;
    if (offset + size > c->peak)
        c->peak = offset + size;
    return true;
}

bool gr__arena_alloc(gr_arena *a, size_t bytes, gr_block *block)
{
    if (bytes > (size_t)INT64_MAX / 2)
        return false;
    int64_t size = ((int64_t)bytes + GR__ALIGN - 1) / GR__ALIGN * GR__ALIGN;
    if (size == 0)
        size = GR__ALIGN;
    for (int i = 0; i < a->n; i++) {
        int64_t offset;
        int at = first_gap(&a->chunks[i], size, &offset);
        if (at < 0)
            continue;
        if (!insert(&a->chunks[i], at, offset, size))
            return false;
        *block = (gr_block){i, offset, size};
        a->used += size;
        a->most = a->used > a->most ? a->used : a->most;
        return true;
    }
    return false;
}

void gr__arena_free(gr_arena *a, const gr_block *block)
{
    chunk *c = &a->chunks[block->chunk];
    for (int i = 0; i < c->n; i++) {
        if (c->used[i].offset != block->offset)
            continue;
        memmove(c->used + i, c->used + i + 1, (size_t)(c->n - i - 1) * sizeof *c->used);
        c->n--;
        a->used -= block->size;
        return;
    }
}

void *gr__arena_address(const gr_arena *a, const gr_block *block)
{
    char *base = a->chunks[block->chunk].base;
    return base ? base + block->offset : NULL;
}

void gr__arena_reset(gr_arena *a)
{
    for (int i = 0; i < a->n; i++)
        a->chunks[i].n = 0;
    a->used = 0;
}

int64_t gr__arena_take_most(gr_arena *a)
{
    const int64_t most = a->most;
    a->most = a->used;
    return most;
}

int64_t gr__arena_peak(const gr_arena *a)
{
    int64_t peak = 0;
    for (int i = 0; i < a->n; i++)
        peak += a->chunks[i].peak;
    return peak;
}

void gr__arena_reset_peak(gr_arena *a)
{
    for (int i = 0; i < a->n; i++)
        a->chunks[i].peak = 0;
}
