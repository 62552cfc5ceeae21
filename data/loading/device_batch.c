/* device_batch.c - see device_batch.h. */
#include "data/loading/device_batch.h"

#include "data/augmentation/augment.h"

/* NULL inside: recorded. */
static gr_buffer buffer_new(gr_context *ctx, gr_type type, int ndim, const int64_t *shape)
{
    gr_buffer b = {.storage = gr_tensor_new(ctx, type, ndim, shape)};
    if (b.storage)
        b.view = gr__tensor_over(ctx, type, ndim, shape, b.storage->data);
    return b;
}

bool gr__device_batch_make(gr_device_batch *d, gr_dataset *set, const gr_loader_options *options)
{
    gr_context *ctx = set->ctx;
    const int64_t rows = options->micro_batch, shape[4] = {rows, set->size[0], set->size[1], set->images->channels};
    *d = (gr_device_batch){.set = set};
    if (options->on_device)
        d->index = buffer_new(ctx, GR_I32, 1, shape);
    else
        d->x = buffer_new(ctx, GR_U8, 4, shape);
    d->y = buffer_new(ctx, GR_I32, 1, shape);
    if (set->plan)
        d->map = buffer_new(ctx, GR_I32, 2, (int64_t[]){rows, GR_MAP});
    if (options->last == GR_PAD)
        d->weight = buffer_new(ctx, gr_real(ctx), 1, shape);
    return gr_ok(ctx) && (!options->on_device || gr__resident_make(set, &d->resident));
}

static void buffer_free(gr_context *ctx, gr_buffer *b)
{
    if (b->view)
        gr__disown(ctx, b->view);
    if (b->storage)
        gr__disown(ctx, b->storage);
}

void gr__device_batch_free(gr_device_batch *d)
{
    if (!d->set)
        return;
    gr_buffer *buffers[] = {&d->x, &d->y, &d->weight, &d->index, &d->map};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_free(d->set->ctx, buffers[i]);
    gr__resident_free(d->set->ctx, &d->resident);
}

static void set_rows(gr_tensor *view, int64_t n)
{
    if (!view)
        return;
    view->count = view->count / view->shape[0] * n;
    view->shape[0] = n;
}

static void shape_views(gr_device_batch *d, int64_t rows)
{
    set_rows(d->x.view, rows);
    set_rows(d->y.view, rows);
    set_rows(d->weight.view, rows);
    set_rows(d->index.view, rows);
    set_rows(d->map.view, rows);
}

bool gr__device_batch_copy(gr_device_batch *d, const gr_host_batch *b, int64_t first, int64_t rows, bool in_place)
{
    const int64_t from = first - b->first, pixels = gr__host_batch_row_bytes(d->set);
    const size_t real = gr_type_size(gr_real(d->set->ctx));
    shape_views(d, rows);
    const bool there = in_place || !b->pixels; /* none: a plan */
    bool pictures = d->index.view ? gr_upload(d->index.view, b->index + from)
                                  : there || gr_upload(d->x.view, b->pixels + from * pixels);
    return pictures && gr_upload(d->y.view, b->labels + from) &&
           (!d->map.view || gr_upload(d->map.view, b->maps + from * GR_MAP)) &&
           (!d->weight.view || gr_upload(d->weight.view, (char *)b->weights + (size_t)from * real));
}

bool gr__device_batch_present(gr_device_batch *d, int64_t rows, int64_t samples, gr_batch *batch)
{
    shape_views(d, rows);
    gr_tensor *pictures = d->index.view ? gr_gather(d->resident.pictures, d->index.view) : d->x.view;
    gr_tensor *x =
        d->map.view ? gr__augment_batch(d->set, pictures, d->map.view) : gr_normalise(pictures, &d->set->normalise);
    if (x)
        *batch = (gr_batch){.x = x,
                            .y = d->y.view,
                            .weight = d->weight.view,
                            .n = rows,
                            .samples = samples,
                            .first = batch->first,
                            .last = batch->last,
                            .classes = gr_dataset_classes(d->set),
                            .row = batch->row,
                            .shard = batch->shard,
                            .shard_last = batch->shard_last,
                            .whole = batch->whole,
                            .shards = batch->shards};
    return x != NULL;
}
