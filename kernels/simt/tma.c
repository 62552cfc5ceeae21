/*
 * tma.c - copies of tiles, sent by one thread and counted by a barrier in memory. They land as late as the barrier
 * allows: when no thread of the block can run, the oldest first, in reverse order the youngest; in random order at any
 * time, in any order. Until then their destination holds NaN.
 */
#include <string.h>

#include "kernels/simt/async.h"

enum { MAGIC = 0x7E4503AB, SWIZZLED = 128, REACH = 256, MOST_STEP = 8, PIECE = 16, SELDOM = 8 };

/* What the driver takes, of a dimension with rows around it. */
static bool rows_fit(const gr_tensor_map *map, int i)
{
    return map->size[i] >= 1 && map->every[i] >= 1 && map->every[i] <= MOST_STEP && map->box[i] >= 1 &&
           map->box[i] <= REACH / map->every[i];
}

gr_tensor_map gr__simt_tensor_map(gr_tensor_map map, const char *file, int line)
{
    gr__simt_machine *m = gr__simt_here();
    const int *box = map.box, columns = box[3];
    const bool fits = rows_fit(&map, 0) && rows_fit(&map, 1) && rows_fit(&map, 2) && map.size[3] >= 1 && columns >= 1 &&
                      columns <= SWIZZLED / 2 && 2 * columns % PIECE == 0;
    map.magic = MAGIC;
    if (m && !fits)
        gr__simt_report(m,
                        "tensor map: a box of %d x %d x %d rows of %d, of h every %d, of w every %d, at %s:%d; it may "
                        "reach over %d x %d x %d rows of 8 to %d, by 8, of h and w every 1 to %d",
                        box[0], box[1], box[2], columns, map.every[1], map.every[2], gr__simt_short(file), line, REACH,
                        REACH, REACH, SWIZZLED / 2, MOST_STEP);
    else if (m && ((uintptr_t)map.tensor % PIECE || 2 * map.size[3] % PIECE))
        gr__simt_report(m, "tensor map: the rows of the tensor at %s:%d do not begin at multiples of 16 bytes",
                        gr__simt_short(file), line);
    return map;
}

size_t gr__simt_tile_row(const gr__simt_tile *t, int row, const char **from, size_t *first)
{
    const gr_tensor_map *map = &t->map;
    const int of_box[3] = {row / map->box[2] / map->box[1], row / map->box[2] % map->box[1], row % map->box[2]};
    int64_t y = 0; /* the row's number in the tensor */
    for (int i = 0; i < 3; i++) {
        const int64_t at = t->start[i] + of_box[i] * map->every[i];
        if (at < 0 || at >= map->size[i])
            return 0;
        y = y * map->size[i] + at;
    }
    const int64_t column = t->start[3], columns = map->size[3], begin = column > 0 ? column : 0;
    const int64_t end = column + map->box[3] < columns ? column + map->box[3] : columns;
    if (begin >= end)
        return 0;
    *first = (size_t)(begin - column) * 2;
    *from = map->tensor + (y * columns + begin) * 2;
    return (size_t)(end - begin) * 2;
}

static void check(gr__simt_machine *m, const gr__simt_tile *t, int rank, const gr__simt_mbarrier *b)
{
    const char *file = gr__simt_short(t->file);
    if (t->map.magic != MAGIC)
        gr__simt_report(m, "tensor map: the TMA copy at %s:%d has none that gr_tensor_map_of or _4d made", file,
                        t->line);
    if (t->map.rank != rank)
        gr__simt_report(m, "tensor map: the TMA copy at %s:%d is of %d dimensions, its map of %d", file, t->line, rank,
                        t->map.rank);
    if (!gr__simt_in_shared(m, t->to))
        gr__simt_report(m, "address: the TMA copy at %s:%d writes to memory that is not shared", file, t->line);
    if ((uintptr_t)t->to % SWIZZLED)
        gr__simt_report(m, "misaligned: the TMA copy at %s:%d goes to what is no multiple of %d", file, t->line,
                        SWIZZLED);
    if (!b->fenced)
        gr__simt_report(m,
                        "missing fence: no gr_fence_async between the initialisation of the mbarrier and the TMA "
                        "copy at %s:%d",
                        file, t->line);
    if (m->async->tiles == GR__SIMT_TILES)
        gr__simt_report(m, "tensor map: the TMA copy at %s:%d is one more than the emulator has room for", file,
                        t->line);
}

void gr__simt_tma_load(void *shared, const gr_tensor_map *map, int rank, const int start[4], void *barrier,
                       const char *file, int line)
{
    gr__simt_machine *m = gr__simt_now;
    const gr__simt_mbarrier *b = gr__simt_find_mbarrier(m, barrier, "a TMA copy", file, line);
    const gr__simt_tile t = {*map, {start[0], start[1], start[2], start[3]}, shared, (int)(b - m->async->barrier), file,
                             line};
    check(m, &t, rank, b);
    gr__simt_shadow_tile_begins(m, &t);
    memset(shared, 0xFF, gr__simt_tile_bytes(&t));
    m->async->tile[m->async->tiles++] = t;
}

/* Piece by piece, each to its place. */
static void land(gr__simt_machine *m, const gr__simt_tile *t)
{
    const size_t across = (size_t)t->map.box[3] * 2;
    for (int r = 0; r < gr__simt_tile_rows(t); r++) {
        char row[SWIZZLED] = {0};
        const char *from = NULL;
        size_t first = 0;
        const size_t bytes = gr__simt_tile_row(t, r, &from, &first);
        if (bytes)
            memcpy(row + first, from, bytes);
        for (size_t i = 0; i < across; i += PIECE) {
            const size_t address = (size_t)(t->to - m->shared.memory) + (size_t)r * across + i;
            memcpy(m->shared.memory + gr__simt_swizzled(address, 3), row + i, PIECE);
        }
    }
    gr__simt_shadow_tile_lands(m, t);
    gr__simt_mbarrier_bytes(m, &m->async->barrier[t->barrier], (int64_t)gr__simt_tile_bytes(t));
}

static int under_way(const gr__simt_machine *m)
{
    return m->async && m->async->block == m->block ? m->async->tiles : 0;
}

bool gr__simt_land_tile(gr__simt_machine *m)
{
    struct gr__simt_async *a = m->async;
    const int tiles = under_way(m);
    if (!tiles)
        return false;
    const int i = m->order == GR__SIMT_FORWARD   ? 0
                  : m->order == GR__SIMT_REVERSE ? tiles - 1
                                                 : (int)(gr__simt_random(m) % (unsigned)tiles);
    const gr__simt_tile t = a->tile[i];
    memmove(&a->tile[i], &a->tile[i + 1], (size_t)(tiles - 1 - i) * sizeof t);
    a->tiles--;
    land(m, &t);
    return true;
}

void gr__simt_land_at_random(gr__simt_machine *m)
{
    if (m->order == GR__SIMT_RANDOM && under_way(m) && gr__simt_random(m) % SELDOM == 0)
        gr__simt_land_tile(m);
}

void gr__simt_tiles_at_end(gr__simt_machine *m)
{
    if (under_way(m))
        gr__simt_report(m, "missing wait: all threads have exited with %d TMA copies under way, the first from %s:%d",
                        under_way(m), gr__simt_short(m->async->tile[0].file), m->async->tile[0].line);
}
