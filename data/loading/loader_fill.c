/*
 * loader_fill.c - what is in a batch: the order of an epoch, its last batch, and the rows of a host batch.
 *
 * A batch is filled when it is asked for, by the context's threads, or ahead of that by workers into a ring. What is in
 * it is decided before anyone fills it, so it is the same either way.
 */
#include "core/clock.h"
#include "core/parallel.h"
#include "core/philox.h"
#include "data/loading/loader.h"

/* Epoch e, counted from 0, has the order of (seed, e) whatever came before. */
static void begin_filling(gr_loader *loader)
{
    loader->filling++;
    loader->position = 0;
    if (loader->options.shuffle)
        gr__random_order(gr_seed(loader->ctx), GR_RNG_SHUFFLE, (uint32_t)loader->filling, loader->set->n,
                         loader->order);
    for (int64_t i = 0; i < loader->set->n && !loader->options.shuffle; i++)
        loader->order[i] = i;
}

/* Samples of the next batch that this epoch has not yet seen; 0: the epoch is over. */
static int64_t fresh_samples(const gr_loader *loader)
{
    int64_t left = loader->set->n - loader->position, full = loader->options.batch;
    return left >= full ? full : loader->options.last == GR_DROP ? 0 : left;
}

void gr__loader_prepare(void *user, int slot)
{
    gr_loader *loader = user;
    gr_host_batch *b = &loader->slots[slot];
    const gr_last_batch last = loader->options.last;
    if (loader->filling < loader->options.epoch || fresh_samples(loader) == 0)
        begin_filling(loader);
    const int64_t fresh = fresh_samples(loader), n = loader->set->n;
    b->epoch = loader->filling;
    b->rows = last == GR_KEEP ? fresh : loader->options.batch;
    b->samples = last == GR_PAD ? fresh : b->rows;
    b->bad = INT64_MAX;
    b->first = 0;
    for (int64_t i = 0; i < b->rows; i++)
        b->picks[i] = i < fresh || last == GR_WRAP ? loader->order[(loader->position + i) % n] : -1;
    loader->position += fresh;
}

/* Fills rows from to end - 1, and keeps the time. */
static void fill_rows(gr_loader *loader, gr_host_batch *b, int64_t from, int64_t end)
{
    const int64_t begin = gr__nanoseconds();
    int64_t reading = 0;
    for (int64_t i = from; i < end; i++)
        gr__host_batch_fill(loader->set, b, i, &reading);
    loader->making += gr__nanoseconds() - begin;
    loader->reading += reading;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void gr__loader_fill_piece(void *user, int slot, int64_t piece)
{
    gr_loader *loader = user;
    gr_host_batch *b = &loader->slots[slot];
    fill_rows(loader, b, piece * loader->piece_rows, least((piece + 1) * loader->piece_rows, b->rows));
}

typedef struct {
    gr_loader *loader;
    int64_t rows;
} filling;

static void fill_part(void *arg, int64_t part)
{
    const filling *f = arg;
    const int64_t each = f->loader->piece_rows, done = f->loader->done;
    fill_rows(f->loader, f->loader->now, done + part * each, done + least((part + 1) * each, f->rows));
}

void gr__loader_fill_now(gr_loader *loader, int64_t rows)
{
    const int64_t parts = (rows + loader->piece_rows - 1) / loader->piece_rows;
    filling f = {loader, rows};
    gr_exec exec = {.pool = loader->ctx->device->pool};
    loader->now->first = loader->done;
    const bool together = exec.pool && parts > 1; /* else waking the others takes longer than what there is to do */
    if (together)
        gr_parallel_for(&exec, parts, fill_part, &f);
    for (int64_t i = 0; i < parts && !together; i++)
        fill_part(&f, i);
}
