/*
 * loader.c - gives batches out: the next rows, filled, copied to the device, augmented and normalised.
 *
 *   sampler.c        which samples: the order of the epoch, the last batch, the rows that are this rank's
 *       |
 *   prefetch.c       host batches, filled ahead by workers (ring.c) or when they are asked for
 *       |               host_batch.c: pictures read or decoded, augmentation drawn, labels, weights
 *   loader.c         pieces of a batch, one after the other; the time they take
 *       |
 *   device_batch.c   copied to fixed addresses, there augmented and normalised (resident.c: gathered from a set that
 *       |            lies on the device)
 *   gr_batch         x, y, weight
 *
 * A batch larger than a micro-batch comes in pieces, one after the other in the same buffers: memory does not grow with
 * the batch.
 */
#include <stdlib.h>

#include "core/clock.h"
#include "core/trace.h"
#include "data/loading/device_batch.h"
#include "data/loading/loader_options.h"
#include "data/loading/prefetch.h"
#include "data/loading/shards.h"

struct gr_loader {
    gr_dataset *set;
    gr_context *ctx;
    gr_loader_options options;
    gr_prefetch prefetch;
    gr_device_batch device;
    int64_t epochs;     /* begun */
    int64_t batches;    /* begun in this epoch, the one under way included */
    bool running;       /* inside an epoch */
    gr_host_batch *now; /* the batch under way; NULL: none yet */
    int64_t at;         /* the row of it that comes next */
    int64_t shard;      /* in which that lies */
    bool over;          /* all of it has been given out */
    int64_t wait, copy; /* nanoseconds, see gr_loader_time */
};

static void destroy_loader(void *object)
{
    gr_loader *loader = object;
    gr__prefetch_close(&loader->prefetch);
    free(loader);
}

/* Memory on the host and on the device, then the workers. False: recorded. */
static bool make(gr_loader *loader)
{
    gr_prefetch *p = &loader->prefetch;
    if (!gr__prefetch_open(p, loader->set, &loader->options) ||
        !gr__device_batch_make(&loader->device, loader->set, &loader->options))
        return false;
    if (p->batch_options.in_place)
        p->slots[0].pixels = gr__u8(loader->device.x.storage);
    for (int i = 0; i < p->n_slots; i++)
        p->slots[i].by_row = loader->device.resident.by_row;
    return gr__prefetch_start(p);
}

gr_loader *gr_loader_open(gr_dataset *set, const gr_loader_options *options)
{
    const gr_loader_options o = options ? gr__loader_resolve(options) : (gr_loader_options){0};
    if (!set || !gr_ok(set->ctx) || !gr__loader_check(set, &o))
        return NULL;
    gr_loader *loader = gr__calloc(set->ctx, 1, sizeof *loader);
    if (!loader)
        return NULL;
    *loader = (gr_loader){.set = set, .ctx = set->ctx, .options = o, .epochs = o.epoch};
    if (!gr__own(set->ctx, loader, destroy_loader))
        return NULL;
    if (make(loader))
        return loader;
    gr_loader_close(loader);
    return NULL;
}

void gr_loader_close(gr_loader *loader)
{
    if (!loader)
        return;
    gr_context *ctx = loader->ctx;
    gr_device_batch device = loader->device;
    gr__disown(ctx, loader); /* workers first: they may be filling x */
    gr__device_batch_free(&device);
}

/* At the first row of the batch under way that is this rank's. */
static void rewind_batch(gr_loader *loader)
{
    loader->at = loader->now->begin;
    loader->shard = gr__first_shard(loader->options.shards, loader->options.ranks, loader->options.rank);
    loader->over = false;
}

/* Starts the next batch. False: the epoch is over. */
static bool begin_batch(gr_loader *loader)
{
    if (!loader->running) {
        loader->batches = loader->epochs == loader->options.epoch ? loader->options.skip : 0;
        loader->epochs++;
    }
    loader->running = loader->batches < gr_loader_batches(loader);
    if (!loader->running)
        return false;
    loader->batches++;
    const double waiting = loader->prefetch.ring ? gr_span_begin(loader->ctx, "wait") : 0;
    loader->now = gr__prefetch_next(&loader->prefetch);
    gr_span_end(loader->ctx, "wait", waiting);
    gr__prefetch_trace(&loader->prefetch, loader->now);
    rewind_batch(loader);
    return true;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Behind the last row of the shard under way that counts; pieces of nothing but padding are left out. */
static int64_t shard_end(const gr_loader *loader)
{
    const gr_host_batch *b = loader->now;
    return least(gr__shard_row(b->rows, loader->options.shards, loader->shard + 1), b->samples);
}

/* Rows of the next piece, and those of them that count. */
static int64_t next_piece(const gr_loader *loader, int64_t *samples)
{
    const int64_t border = gr__shard_row(loader->now->rows, loader->options.shards, loader->shard + 1);
    const int64_t n = least(border - loader->at, loader->options.micro_batch);
    *samples = least(loader->now->samples - loader->at, n);
    return n;
}

/* The next rows to the device. A host batch is not touched again until the next batch is begun. False: recorded. */
static bool copy(gr_loader *loader, int64_t rows)
{
    return gr__host_batch_good(loader->set, loader->now) &&
           gr__device_batch_copy(&loader->device, loader->now, loader->at, rows,
                                 loader->prefetch.batch_options.in_place);
}

/* What is known of the batch under way as a whole. */
static void describe(const gr_loader *loader, gr_batch *batch)
{
    const gr_host_batch *b = loader->now;
    batch->whole = b->samples;
    while (batch->shards < loader->options.shards &&
           gr__shard_row(b->rows, loader->options.shards, batch->shards) < b->samples)
        batch->shards++;
}

/* The place of the piece that begins at the next row, and behind it. */
static void place(gr_loader *loader, int64_t rows, gr_batch *batch)
{
    const int64_t end = least(loader->now->end, loader->now->samples);
    batch->row = loader->at;
    batch->shard = (int)loader->shard;
    batch->first = loader->at == 0;
    loader->at += rows;
    batch->shard_last = loader->at >= shard_end(loader);
    batch->last = loader->over = loader->at >= end;
    loader->shard += batch->shard_last;
}

static bool next(gr_loader *loader, gr_batch *batch)
{
    const int64_t begin = gr__nanoseconds();
    if ((!loader->now || loader->over) && !begin_batch(loader)) {
        loader->now = NULL;
        return false;
    }
    gr_set_update_weight(loader->ctx, (double)loader->now->samples);
    describe(loader, batch);
    if (loader->at >= least(loader->now->end, loader->now->samples)) { /* none of its rows is this rank's */
        batch->last = loader->over = true;
        return true;
    }
    int64_t samples, rows = next_piece(loader, &samples);
    const double filling = loader->prefetch.ring ? 0 : gr_span_begin(loader->ctx, "fill");
    gr__prefetch_fill(&loader->prefetch, loader->at, rows);
    gr_span_end(loader->ctx, "fill", filling);
    const int64_t filled = gr__nanoseconds();
    const bool copied = copy(loader, rows);
    loader->wait += filled - begin;
    loader->copy += gr__nanoseconds() - filled;
    place(loader, rows, batch);
    loader->over |= !copied; /* a batch that cannot be made is left out */
    return copied && gr__device_batch_present(&loader->device, rows, samples, batch);
}

bool gr_loader_next(gr_loader *loader, gr_batch *batch)
{
    *batch = (gr_batch){0};
    if (!loader || !gr_ok(loader->ctx))
        return false;
    const double begin = gr_span_begin(loader->ctx, "loader");
    const bool more = next(loader, batch);
    gr_span_end(loader->ctx, "loader", begin);
    return more;
}

void gr_loader_again(gr_loader *loader)
{
    if (loader && loader->now)
        rewind_batch(loader);
}

int64_t gr_loader_micro_batch(const gr_loader *loader)
{
    return loader ? loader->options.micro_batch : 0;
}

int64_t gr_loader_batch(const gr_loader *loader)
{
    return loader ? loader->options.batch : 0;
}

int64_t gr_loader_batches(const gr_loader *loader)
{
    return loader ? gr__sampler_batches(&loader->prefetch.sampler) : 0;
}

int64_t gr_loader_epoch(const gr_loader *loader)
{
    return loader ? loader->epochs : 0;
}

int gr_loader_workers(const gr_loader *loader)
{
    return loader ? loader->prefetch.workers : 0;
}

int gr_loader_prefetch(const gr_loader *loader)
{
    return loader ? loader->prefetch.n_slots - 1 : 0;
}

gr_loader_time gr_loader_seconds(const gr_loader *loader)
{
    if (!loader)
        return (gr_loader_time){0};
    return (gr_loader_time){1e-9 * (double)loader->wait, 1e-9 * (double)loader->copy,
                            1e-9 * (double)loader->prefetch.making, 1e-9 * (double)loader->prefetch.reading};
}

bool gr_loader_dry(gr_loader *loader, int64_t n, gr_batch *batch)
{
    *batch = (gr_batch){0};
    if (!loader || !gr_ok(loader->ctx))
        return false;
    int64_t shape[4] = {n};
    gr_dataset_shape(loader->set, shape + 1);
    if (!gr__shape_check(loader->ctx, gr_real(loader->ctx), 4, shape))
        return false;
    if (n > loader->options.micro_batch && !loader->ctx->planning)
        return gr__fail(loader->ctx, GR_USAGE,
                        "a dry batch of %lld rows does not fit the loader's %lld; more only between gr_plan_begin and "
                        "gr_plan_end",
                        (long long)n, (long long)loader->options.micro_batch);
    const bool made = gr__device_batch_present(&loader->device, n, n, batch);
    batch->first = batch->last = batch->shard_last = made;
    batch->whole = n;
    batch->shards = 1;
    return made;
}
