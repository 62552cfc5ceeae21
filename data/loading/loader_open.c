/*
 * loader_open.c - makes a loader: what it may be asked for, its memory on the host and on the device, its workers.
 *
 * A loader has one set of batch buffers on the device. Batches arrive at fixed addresses; the tensors that callers see
 * are views of their first rows, which is how a short last batch shares the storage.
 */
#include <stdlib.h>

#include "core/parallel.h"
#include "data/loading/loader.h"

enum { DEFAULT_PREFETCH = 2, MOST_WORKERS = 8 /* that are taken unasked */, PIECE_BYTES = 1 << 20 };

static bool check_options(const gr_dataset *set, const gr_loader_options *o)
{
    if (!o || o->batch < 1)
        return gr__fail(set->ctx, GR_USAGE, "a batch of %lld samples cannot be made; the batch size must be at least 1",
                        o ? (long long)o->batch : 0);
    if ((unsigned)o->last > GR_WRAP)
        return gr__fail(set->ctx, GR_USAGE, "policy number %d for the last batch is unknown; keep, drop, pad or wrap",
                        (int)o->last);
    if (o->micro_batch < 0)
        return gr__fail(set->ctx, GR_USAGE, "a micro-batch of %lld samples cannot be made; it has at least 1",
                        (long long)o->micro_batch);
    if (o->workers < GR_NO_WORKERS || o->workers > GR_MAX_WORKERS || o->prefetch < 0 || o->prefetch > GR_MAX_PREFETCH)
        return gr__fail(set->ctx, GR_USAGE,
                        "a loader with %d workers and %d batches ahead; at most %d and %d, or 0 for the default",
                        o->workers, o->prefetch, GR_MAX_WORKERS, GR_MAX_PREFETCH);
    if (o->batch > set->n && o->last != GR_PAD)
        return gr__fail(
            set->ctx, GR_USAGE,
            "batch size %lld is larger than the set of %lld samples; take at most %lld, or pad the last batch",
            (long long)o->batch, (long long)set->n, (long long)set->n);
    return true;
}

/*
 * Where computing leaves the processors alone workers fill batches meanwhile, unless told otherwise. Where it does not,
 * they would only take them from it.
 */
static int workers_of(const gr_loader *loader)
{
    const int asked = loader->options.workers, cpus = gr__usable_cpus();
    if (loader->ctx->planning || asked == GR_NO_WORKERS)
        return 0;
    return asked ? asked : !loader->ctx->device->wait ? 0 : cpus < MOST_WORKERS ? cpus : MOST_WORKERS;
}

/* NULL inside: recorded. */
static gr_buffer buffer_new(gr_context *ctx, gr_type type, int ndim, const int64_t *shape)
{
    gr_buffer b = {.storage = gr_tensor_new(ctx, type, ndim, shape)};
    if (b.storage)
        b.view = gr__tensor_over(ctx, type, ndim, shape, b.storage->data);
    return b;
}

/* Memory of a batch on the device. */
static bool make_buffers(gr_loader *loader)
{
    gr_context *ctx = loader->ctx;
    const gr_dataset *set = loader->set;
    int64_t batch = loader->options.micro_batch, shape[4] = {batch, set->size[0], set->size[1], set->images->channels};
    if (loader->options.on_device)
        loader->index = buffer_new(ctx, GR_I32, 1, shape);
    else
        loader->x = buffer_new(ctx, GR_U8, 4, shape);
    loader->y = buffer_new(ctx, GR_I32, 1, shape);
    if (set->plan)
        loader->map = buffer_new(ctx, GR_I32, 2, (int64_t[]){batch, GR_MAP});
    if (loader->options.last == GR_PAD)
        loader->weight = buffer_new(ctx, gr_real(ctx), 1, shape);
    return gr_ok(ctx);
}

/*
 * Memory of batches on the host: whole ones where workers fill them, else pieces, which are gathered straight into x
 * where that is the host's own.
 */
static bool make_slots(gr_loader *loader, int workers)
{
    gr_context *ctx = loader->ctx;
    const gr_loader_options *o = &loader->options;
    loader->batch_options =
        (gr_host_batch_options){.batch = o->batch,
                                .room = workers ? o->batch : o->micro_batch,
                                .padding = o->last == GR_PAD,
                                .on_device = o->on_device,
                                .in_place = !workers && ctx->device->on_host && !ctx->options.plan_only};
    int prefetch = o->prefetch ? o->prefetch : DEFAULT_PREFETCH;
    loader->slots = gr__calloc(ctx, (size_t)prefetch + 1, sizeof *loader->slots);
    loader->order = gr__host_alloc(ctx, loader->set->n, sizeof *loader->order, "the order of the samples");
    for (int slots = workers ? prefetch + 1 : 1; gr_ok(ctx) && loader->n_slots < slots;)
        gr__host_batch_make(loader->set, &loader->batch_options, &loader->slots[loader->n_slots++]);
    return gr_ok(ctx);
}

/* Rows that are worth a thread's while: one that has to be decoded, more of what is only copied. */
static int64_t piece_rows(const gr_dataset *set)
{
    int64_t bytes = set->size[0] * set->size[1] * set->images->channels;
    return set->images->pixels && bytes < PIECE_BYTES ? PIECE_BYTES / bytes : 1;
}

static bool start_workers(gr_loader *loader, int workers)
{
    const int64_t rows = loader->options.batch, each = loader->piece_rows;
    if (!workers)
        return true;
    loader->ring = gr__ring_open(&(gr_ring_job){.workers = workers,
                                                .slots = loader->n_slots,
                                                .pieces = (rows + each - 1) / each,
                                                .user = loader,
                                                .prepare = gr__loader_prepare,
                                                .fill = gr__loader_fill_piece});
    return loader->ring || gr__fail(loader->ctx, GR_NO_MEMORY,
                                    "the system gives no %d threads for a loader; ask for fewer workers", workers);
}

static bool make(gr_loader *loader)
{
    const int workers = loader->workers = workers_of(loader);
    if (!make_slots(loader, workers) || !make_buffers(loader))
        return false;
    if (loader->batch_options.in_place)
        loader->slots[0].pixels = gr__u8(loader->x.storage);
    if (loader->options.on_device && !gr__resident_make(loader->set, &loader->resident))
        return false;
    for (int i = 0; i < loader->n_slots; i++)
        loader->slots[i].by_row = loader->resident.by_row;
    return start_workers(loader, workers);
}

static void destroy_loader(void *object)
{
    gr_loader *loader = object;
    gr__ring_close(loader->ring);
    for (int i = 0; loader->slots && i < loader->n_slots; i++)
        gr__host_batch_free(&loader->batch_options, &loader->slots[i]);
    free(loader->slots);
    free(loader->order);
    free(loader);
}

gr_loader *gr_loader_open(gr_dataset *set, const gr_loader_options *options)
{
    if (!set || !gr_ok(set->ctx) || !check_options(set, options))
        return NULL;
    gr_loader *loader = gr__calloc(set->ctx, 1, sizeof *loader);
    if (!loader)
        return NULL;
    *loader = (gr_loader){.set = set,
                          .ctx = set->ctx,
                          .options = *options,
                          .epochs = options->epoch,
                          .filling = options->epoch - 1,
                          .piece_rows = piece_rows(set)};
    if (options->micro_batch == 0 || options->micro_batch > options->batch)
        loader->options.micro_batch = options->batch;
    if (!gr__own(set->ctx, loader, destroy_loader))
        return NULL;
    if (make(loader))
        return loader;
    gr_loader_close(loader);
    return NULL;
}

static void buffer_free(gr_context *ctx, gr_buffer *b)
{
    if (b->view)
        gr__disown(ctx, b->view);
    if (b->storage)
        gr__disown(ctx, b->storage);
}

void gr_loader_close(gr_loader *loader)
{
    if (!loader)
        return;
    gr_context *ctx = loader->ctx;
    gr_buffer buffers[] = {loader->x, loader->y, loader->weight, loader->index, loader->map};
    gr_resident resident = loader->resident;
    gr__disown(ctx, loader); /* workers first: they may be filling x */
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_free(ctx, &buffers[i]);
    gr__resident_free(ctx, &resident);
}
