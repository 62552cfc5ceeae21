/*
 * loader.c - gives batches out: the next rows, filled, copied to the device, augmented and normalised.
 *
 * A batch larger than a micro-batch comes in pieces, one after the other in the same buffers: memory does not grow with
 * the batch.
 */
#include "data/loading/loader.h"

#include "core/clock.h"

/* Starts the next batch. False: the epoch is over. */
static bool begin_batch(gr_loader *loader)
{
    if (!loader->running) {
        loader->epochs++;
        loader->given = 0;
    }
    loader->running = loader->given < gr_loader_batches(loader);
    if (!loader->running)
        return false;
    loader->given++;
    loader->done = 0;
    if (!loader->ring)
        gr__loader_prepare(loader, 0);
    loader->now = &loader->slots[loader->ring ? gr__ring_next(loader->ring) : 0];
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

static void set_rows(gr_tensor *view, int64_t n)
{
    if (!view)
        return;
    view->count = view->count / view->shape[0] * n;
    view->shape[0] = n;
}

static void shape_views(gr_loader *loader, int64_t rows)
{
    set_rows(loader->x.view, rows);
    set_rows(loader->y.view, rows);
    set_rows(loader->weight.view, rows);
    set_rows(loader->index.view, rows);
    set_rows(loader->map.view, rows);
}

/* The next rows to the device. A host batch is not touched again until the next batch is begun. */
static bool copy(gr_loader *loader, int64_t rows)
{
    const gr_host_batch *b = loader->now;
    const int64_t from = loader->done - b->first, pixels = gr__host_batch_row_bytes(loader->set);
    const size_t real = gr_type_size(gr_real(loader->ctx));
    shape_views(loader, rows);
    bool pictures = loader->index.view
                        ? gr_upload(loader->index.view, b->index + from)
                        : loader->batch_options.in_place || gr_upload(loader->x.view, b->pixels + from * pixels);
    return pictures && gr_upload(loader->y.view, b->labels + from) &&
           (!loader->map.view || gr_upload(loader->map.view, b->maps + from * GR_MAP)) &&
           (!loader->weight.view || gr_upload(loader->weight.view, (char *)b->weights + (size_t)from * real));
}

/* The batch over the first rows of the buffers, augmented and normalised. */
static bool present(gr_loader *loader, int64_t rows, int64_t samples, gr_batch *batch)
{
    gr_tensor *pictures =
        loader->index.view ? gr_gather(loader->resident.pictures, loader->index.view) : loader->x.view;
    gr_tensor *x = loader->map.view ? gr__augment_batch(loader->set, pictures, loader->map.view)
                                    : gr_normalise(pictures, &loader->set->normalise);
    if (x)
        *batch = (gr_batch){x, loader->y.view, loader->weight.view, rows, samples, batch->first, batch->last};
    return x != NULL;
}

bool gr_loader_next(gr_loader *loader, gr_batch *batch)
{
    *batch = (gr_batch){0};
    if (!loader || !gr_ok(loader->ctx))
        return false;
    const int64_t begin = gr__nanoseconds();
    /* pieces of nothing but padding are left out */
    if ((!loader->now || loader->done >= loader->now->samples) && !begin_batch(loader)) {
        loader->now = NULL;
        return false;
    }
    int64_t samples, rows = next_piece(loader, &samples);
    if (!loader->ring)
        gr__loader_fill_now(loader, rows);
    const int64_t filled = gr__nanoseconds();
    gr_set_update_weight(loader->ctx, (double)loader->now->samples);
    bool copied = gr__host_batch_good(loader->set, loader->now) && copy(loader, rows);
    loader->wait += filled - begin;
    loader->copy += gr__nanoseconds() - filled;
    batch->first = loader->done == 0;
    loader->done = copied ? loader->done + rows : loader->now->samples; /* a batch that cannot be made is left out */
    batch->last = loader->done >= loader->now->samples;
    return copied && present(loader, rows, samples, batch);
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
    if (!loader)
        return 0;
    int64_t n = loader->set->n, batch = loader->options.batch;
    return n / batch + (n % batch && loader->options.last != GR_DROP);
}

int64_t gr_loader_epoch(const gr_loader *loader)
{
    return loader ? loader->epochs : 0;
}

int gr_loader_workers(const gr_loader *loader)
{
    return loader && loader->ring ? loader->workers : 0;
}

int gr_loader_prefetch(const gr_loader *loader)
{
    return loader ? loader->n_slots - 1 : 0;
}

gr_loader_time gr_loader_seconds(const gr_loader *loader)
{
    if (!loader)
        return (gr_loader_time){0};
    return (gr_loader_time){1e-9 * (double)loader->wait, 1e-9 * (double)loader->copy, 1e-9 * (double)loader->making,
                            1e-9 * (double)loader->reading};
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
    shape_views(loader, n);
    bool made = present(loader, n, n, batch);
    batch->first = batch->last = made;
    return made;
}
