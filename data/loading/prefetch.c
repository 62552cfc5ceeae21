/* prefetch.c - see prefetch.h. */
#include "data/loading/prefetch.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/parallel.h"
#include "core/trace.h"
#include "data/loading/shards.h"

enum { DEFAULT_AHEAD = 2, MOST_WORKERS = 8 /* that are taken unasked */, PIECE_BYTES = 1 << 20 };

/* The filling of one piece. */
typedef struct gr_filling {
    int64_t begin, end; /* nanoseconds */
    int thread;         /* the system's number */
} gr_filling;

/*
 * Where computing leaves the processors alone workers fill batches meanwhile, unless told otherwise. Where it does not,
 * they would only take them from it.
 */
static int workers_of(const gr_context *ctx, int asked)
{
    const int cpus = gr__usable_cpus();
    if (ctx->planning || asked == GR_NO_WORKERS)
        return 0;
    return asked ? asked : !ctx->device->wait ? 0 : cpus < MOST_WORKERS ? cpus : MOST_WORKERS;
}

/* Rows that are worth a thread's while: one that has to be decoded, more of what is only copied. */
static int64_t rows_of_piece(const gr_dataset *set)
{
    const int64_t bytes = gr__host_batch_row_bytes(set);
    return set->images->pixels && bytes < PIECE_BYTES ? PIECE_BYTES / bytes : 1;
}

/* The most rows that this rank's shards of a batch have. */
static int64_t own_rows(const gr_loader_options *o)
{
    return gr__shard_row(o->batch, o->shards, gr__first_shard(o->shards, o->ranks, o->rank + 1)) -
           gr__shard_row(o->batch, o->shards, gr__first_shard(o->shards, o->ranks, o->rank));
}

/* All of a batch's own rows where workers fill them, else pieces. */
bool gr__prefetch_open(gr_prefetch *p, const gr_dataset *set, const gr_loader_options *o)
{
    gr_context *ctx = set->ctx;
    *p = (gr_prefetch){.set = set, .rows = rows_of_piece(set), .workers = workers_of(ctx, o->workers)};
    p->batch_options =
        (gr_host_batch_options){.batch = o->batch,
                                .room = p->workers ? own_rows(o) : o->micro_batch,
                                .padding = o->last == GR_PAD,
                                .on_device = o->on_device,
                                .in_place = !p->workers && ctx->device->on_host && !ctx->options.plan_only};
    const int ahead = o->prefetch ? o->prefetch : DEFAULT_AHEAD, slots = p->workers ? ahead + 1 : 1;
    p->slots = gr__calloc(ctx, (size_t)slots, sizeof *p->slots);
    if (!p->slots || !gr__sampler_open(&p->sampler, set, o))
        return false;
    while (gr_ok(ctx) && p->n_slots < slots)
        gr__host_batch_make(set, &p->batch_options, &p->slots[p->n_slots++]);
    return gr_ok(ctx);
}

void gr__prefetch_close(gr_prefetch *p)
{
    gr__ring_close(p->ring);
    for (int i = 0; i < p->n_slots; i++)
        gr__host_batch_free(&p->batch_options, &p->slots[i]);
    free(p->slots);
    free(p->fillings);
    gr__sampler_close(&p->sampler);
}

/* Fills rows from to end - 1, and keeps the time. */
static gr_filling fill_rows(gr_prefetch *p, gr_host_batch *b, int64_t from, int64_t end)
{
    gr_filling f = {.begin = gr__nanoseconds()};
    int64_t reading = 0;
    for (int64_t i = from; i < end; i++)
        gr__host_batch_fill(p->set, b, i, &reading);
    f.end = gr__nanoseconds();
    p->making += f.end - f.begin;
    p->reading += reading;
    return f;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The ring's jobs. */
static void prepare_slot(void *user, int slot)
{
    gr_prefetch *p = user;
    gr__sampler_next(&p->sampler, &p->slots[slot]);
}

static void fill_piece(void *user, int slot, int64_t piece)
{
    gr_prefetch *p = user;
    gr_host_batch *b = &p->slots[slot];
    gr_filling *f = &p->fillings[slot * p->fillings_each + piece];
    *f = fill_rows(p, b, b->begin + piece * p->rows, least(b->begin + (piece + 1) * p->rows, b->end));
    f->thread = gettid();
}

void gr__prefetch_trace(const gr_prefetch *p, const gr_host_batch *b)
{
    const gr_filling *f = p->ring ? p->fillings + (b - p->slots) * p->fillings_each : NULL;
    for (int64_t i = 0; f && p->set->ctx->trace && i * p->rows < b->end - b->begin; i++)
        gr__trace_elsewhere(p->set->ctx, "fill", f[i].thread, f[i].begin, f[i].end);
}

bool gr__prefetch_start(gr_prefetch *p)
{
    if (!p->workers)
        return true;
    p->fillings_each = (p->batch_options.room + p->rows - 1) / p->rows;
    p->fillings = gr__calloc(p->set->ctx, (size_t)(p->n_slots * p->fillings_each), sizeof *p->fillings);
    if (!p->fillings)
        return false;
    p->ring = gr__ring_open(&(gr_ring_job){.workers = p->workers,
                                           .slots = p->n_slots,
                                           .pieces = p->fillings_each,
                                           .user = p,
                                           .prepare = prepare_slot,
                                           .fill = fill_piece});
    return p->ring ||
           gr__fail(p->set->ctx, GR_NO_MEMORY,
                    "the system gives no memory or no threads for %d workers of a loader; ask for fewer", p->workers);
}

gr_host_batch *gr__prefetch_next(gr_prefetch *p)
{
    if (!p->ring)
        prepare_slot(p, 0);
    return &p->slots[p->ring ? gr__ring_next(p->ring) : 0];
}

typedef struct {
    gr_prefetch *prefetch;
    int64_t first, rows;
} filling;

static void fill_part(void *arg, int64_t part)
{
    const filling *f = arg;
    const int64_t each = f->prefetch->rows;
    fill_rows(f->prefetch, f->prefetch->slots, f->first + part * each, f->first + least((part + 1) * each, f->rows));
}

void gr__prefetch_fill(gr_prefetch *p, int64_t first, int64_t rows)
{
    if (p->ring)
        return;
    const int64_t parts = (rows + p->rows - 1) / p->rows;
    filling f = {p, first, rows};
    gr_exec exec = {.pool = p->set->ctx->device->pool};
    p->slots->first = first;
    const bool together = exec.pool && parts > 1; /* else waking the others takes longer than what there is to do */
    if (together)
        gr_parallel_for(&exec, parts, fill_part, &f);
    for (int64_t i = 0; i < parts && !together; i++)
        fill_part(&f, i);
}
