/*
 * loader.c - gives batches out: the next rows, filled, copied to the device, augmented and normalised.
 *
 *   sampler.c        which samples: the order of the epoch, the last batch
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
#include "data/loading/prefetch.h"

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
    int64_t done;       /* rows of it that have been given out */
    int64_t wait, copy; /* nanoseconds, see gr_loader_time */
};

static bool check_options(const gr_dataset *set, const gr_loader_options *o)
{
    if (!o || o->batch < 1)
        return gr__fail(set->ctx, GR_USAGE, "a batch of %lld samples cannot be made; the batch size must be at least 1",
                        o ? (long long)o->batch : 0);
    if ((unsigned)o->last > GR_WRAP)
        return gr__fail(set->ctx, GR_USAGE, "policy number %d for the last batch is unknown; keep, drop, pad or wrap",
                        (int)o->last);
    if ((unsigned)o->order > GR_IN_ORDER)
        return gr__fail(set->ctx, GR_USAGE, "order number %d is unknown; there are GR_SHUFFLED and GR_IN_ORDER",
                        (int)o->order);
    if (o->micro_batch < 0)
        return gr__fail(set->ctx, GR_USAGE, "a micro-batch of %lld samples cannot be made; it has at least 1",
                        (long long)o->micro_batch);
    if (o->workers < GR_NO_WORKERS || o->workers > GR_MAX_WORKERS || o->prefetch < 0 || o->prefetch > GR_MAX_PREFETCH)
        return gr__fail(set->ctx, GR_USAGE,
                        "a loader with %d workers and %d batches ahead; at most %d and %d, or 0 for the default",
                        o->workers, o->prefetch, GR_MAX_WORKERS, GR_MAX_PREFETCH);
    if (o->skip < 0 || o->epoch < 0)
        return gr__fail(set->ctx, GR_USAGE, "a loader from epoch %lld on without %lld batches; both are at least 0",
                        (long long)o->epoch, (long long)o->skip);
    if (o->batch > set->n && o->last != GR_PAD)
        return gr__fail(
            set->ctx, GR_USAGE,
            "batch size %lld is larger than the set of %lld samples; take at most %lld, or pad the last batch",
            (long long)o->batch, (long long)set->n, (long long)set->n);
    return true;
}

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
    if (!set || !gr_ok(set->ctx) || !check_options(set, options))
        return NULL;
    gr_loader *loader = gr__calloc(set->ctx, 1, sizeof *loader);
    if (!loader)
        return NULL;
    *loader = (gr_loader){.set = set, .ctx = set->ctx, .options = *options, .epochs = options->epoch};
    if (options->micro_batch == 0 || options->micro_batch > options->batch)
        loader->options.micro_batch = options->batch;
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
    loader->done = 0;
    const double waiting = loader->prefetch.ring ? gr_span_begin(loader->ctx) : 0;
    loader->now = gr__prefetch_next(&loader->prefetch);
    gr_span_end(loader->ctx, "wait", waiting);
    gr__prefetch_trace(&loader->prefetch, loader->now);
    return true;
}

/* Rows of the next piece, and those of them that count. */
static int64_t next_piece(const gr_loader *loader, int64_t *samples)
{
    const int64_t rows = loader->now->rows - loader->done, left = loader->now->samples - loader->done;
    const int64_t n = rows < loader->options.micro_batch ? rows : loader->options.micro_batch;
    *samples = left < n ? left : n;
    return n;
}

/* The next rows to the device. A host batch is not touched again until the next batch is begun. False: recorded. */
static bool copy(gr_loader *loader, int64_t rows)
{
    return gr__host_batch_good(loader->set, loader->now) &&
           gr__device_batch_copy(&loader->device, loader->now, loader->done, rows,
                                 loader->prefetch.batch_options.in_place);
}

static bool next(gr_loader *loader, gr_batch *batch)
{
    const int64_t begin = gr__nanoseconds();
    /* pieces of nothing but padding are left out */
    if ((!loader->now || loader->done >= loader->now->samples) && !begin_batch(loader)) {
        loader->now = NULL;
        return false;
    }
    int64_t samples, rows = next_piece(loader, &samples);
    const double filling = loader->prefetch.ring ? 0 : gr_span_begin(loader->ctx);
    gr__prefetch_fill(&loader->prefetch, loader->done, rows);
    gr_span_end(loader->ctx, "fill", filling);
    const int64_t filled = gr__nanoseconds();
    gr_set_update_weight(loader->ctx, (double)loader->now->samples);
    const bool copied = copy(loader, rows);
    loader->wait += filled - begin;
    loader->copy += gr__nanoseconds() - filled;
    batch->first = loader->done == 0;
    loader->done = copied ? loader->done + rows : loader->now->samples; /* a batch that cannot be made is left out */
    batch->last = loader->done >= loader->now->samples;
    return copied && gr__device_batch_present(&loader->device, rows, samples, batch);
}

bool gr_loader_next(gr_loader *loader, gr_batch *batch)
{
    *batch = (gr_batch){0};
    if (!loader || !gr_ok(loader->ctx))
        return false;
    const double begin = gr_span_begin(loader->ctx);
    const bool more = next(loader, batch);
    gr_span_end(loader->ctx, "loader", begin);
    return more;
}

void gr_loader_again(gr_loader *loader)
{
    if (loader)
        loader->done = 0;
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
    batch->first = batch->last = made;
    return made;
}
