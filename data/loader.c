/*
 * loader.c - makes batches: the order of an epoch, its last batch, and the way of a batch to the device.
 *
 * A loader has one set of batch buffers on the device, made when it is opened: batches arrive at fixed addresses. The
 * tensors that callers see are views of their first rows, which is how a short last batch shares the storage. A batch larger
 * than a micro-batch comes in pieces, one after the other in the same buffers: memory does not grow with the batch.
 */
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/philox.h"
#include "data/augment.h"
#include "data/image.h"

/* Device memory for a full batch, and the tensor over its first rows that callers see. */
typedef struct {
    gr_tensor *storage, *view;
} gr_buffer;

struct gr_loader {
    const gr_dataset *set;
    gr_context *ctx;
    gr_loader_options options;
    int64_t *order;   /* [n] of this epoch */
    int64_t position; /* samples of this epoch before the batch under way */
    int64_t rows, samples, done; /* of the batch under way: its rows, those that count, rows already given out */
    int64_t epochs;   /* begun */
    bool running;     /* inside an epoch */

    bool in_place;          /* device memory is the host's: images are gathered straight into x */
    uint8_t *pixels;        /* host: [micro, H, W, C]; the storage of x where in_place */
    int32_t *labels;        /* host: [micro] */
    void *weights;          /* host, real: [micro]; NULL unless padding */
    int32_t *maps;          /* host: [micro, GR_MAP]; NULL unless the set is augmented */
    gr_buffer x, y, weight; /* u8 [micro, H, W, C], i32 [micro], real [micro] (NULL unless padding) */
    gr_buffer map;          /* i32 [micro, GR_MAP] (NULL unless the set is augmented) */
};

static void destroy_loader(void *object)
{
    gr_loader *loader = object;
    free(loader->order);
    if (!loader->in_place)
        free(loader->pixels);
    free(loader->labels);
    free(loader->weights);
    free(loader->maps);
    free(loader);
}

/* NULL inside: recorded. */
static gr_buffer buffer_new(gr_context *ctx, gr_type type, int ndim, const int64_t *shape)
{
    gr_buffer b = {.storage = gr_tensor_new(ctx, type, ndim, shape)};
    if (b.storage)
        b.view = gr__tensor_over(ctx, type, ndim, shape, b.storage->data);
    return b;
}

static void buffer_free(gr_context *ctx, gr_buffer *b)
{
    if (b->view)
        gr__disown(ctx, b->view);
    if (b->storage)
        gr__disown(ctx, b->storage);
}

static void set_rows(gr_tensor *view, int64_t n)
{
    if (!view)
        return;
    view->count = view->count / view->shape[0] * n;
    view->shape[0] = n;
}

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
    if (o->batch > set->n && o->last != GR_PAD)
        return gr__fail(
            set->ctx, GR_USAGE,
            "batch size %lld is larger than the set of %lld samples; take at most %lld, or pad the last batch",
            (long long)o->batch, (long long)set->n, (long long)set->n);
    return true;
}

/* Memory of a loader, on the host and on the device. False: recorded. */
static bool make_buffers(gr_loader *loader)
{
    gr_context *ctx = loader->ctx;
    const gr_dataset *set = loader->set;
    int64_t batch = loader->options.micro_batch, shape[4] = {batch, set->size[0], set->size[1], set->images->channels};
    bool padding = loader->options.last == GR_PAD;
    size_t real = gr_type_size(gr_real(ctx));
    loader->order = gr__host_alloc(ctx, loader->set->n, sizeof *loader->order, "the order of the samples");
    loader->labels = gr__host_alloc(ctx, batch, sizeof *loader->labels, "the labels of a batch");
    if (padding)
        loader->weights = gr__host_alloc(ctx, batch, (int64_t)real, "the weights of a batch");
    loader->x = buffer_new(ctx, GR_U8, 4, shape);
    loader->in_place = loader->x.storage && loader->x.storage->data && ctx->device->on_host;
    loader->pixels = loader->in_place ? gr__u8(loader->x.storage)
                                      : gr__host_alloc(ctx, batch, shape[1] * shape[2] * shape[3], "a batch of images");
    loader->y = buffer_new(ctx, GR_I32, 1, shape);
    if (set->plan) {
        loader->maps = gr__host_alloc(ctx, batch, GR_MAP * sizeof *loader->maps, "the maps of a batch");
        loader->map = buffer_new(ctx, GR_I32, 2, (int64_t[]){batch, GR_MAP});
    }
    if (padding)
        loader->weight = buffer_new(ctx, gr_real(ctx), 1, shape);
    return gr_ok(ctx);
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
    if (make_buffers(loader))
        return loader;
    gr_loader_close(loader);
    return NULL;
}

void gr_loader_close(gr_loader *loader)
{
    if (!loader)
        return;
    buffer_free(loader->ctx, &loader->x);
    buffer_free(loader->ctx, &loader->y);
    buffer_free(loader->ctx, &loader->weight);
    buffer_free(loader->ctx, &loader->map);
    gr__disown(loader->ctx, loader);
}

/* Epoch e, counted from 0, has the order of (seed, e) whatever came before. */
static void begin_epoch(gr_loader *loader)
{
    if (loader->options.shuffle)
        gr__random_order(gr_seed(loader->ctx), GR_RNG_SHUFFLE, (uint32_t)loader->epochs, loader->set->n, loader->order);
    for (int64_t i = 0; i < loader->set->n && !loader->options.shuffle; i++)
        loader->order[i] = i;
    loader->epochs++;
    loader->position = loader->rows = loader->samples = loader->done = 0;
    loader->running = true;
}

/* One image in the size of a batch. */
static void copy_image(const gr_dataset *set, int64_t row, uint8_t *pixels)
{
    const gr_images *images = set->images;
    if (set->size[0] == images->height && set->size[1] == images->width)
        memcpy(pixels, gr__image_at(images, row), (size_t)gr__image_bytes(images));
    else
        gr__resize_nearest(gr__image_at(images, row), (int64_t[]){images->height, images->width}, images->channels, set->size,
                           pixels);
}

/* Row i of the piece that comes next: a sample, or what fills up behind the last one. */
static void copy_row(void *arg, int64_t i)
{
    gr_loader *loader = arg;
    const gr_images *images = loader->set->images;
    int64_t at = loader->position + loader->done + i, n = loader->set->n;
    int64_t bytes = loader->set->size[0] * loader->set->size[1] * images->channels;
    uint8_t *pixels = loader->pixels + i * bytes;
    bool counts = at < n || loader->options.last == GR_WRAP;
    if (counts) {
        int64_t row = gr__row(loader->set, loader->order[at % n]);
        copy_image(loader->set, row, pixels);
        loader->labels[i] = images->labels[row];
    } else {
        memset(pixels, 0, (size_t)bytes);
        loader->labels[i] = 0;
    }
    if (loader->maps) {
        const gr__plan_key key = {gr_seed(loader->ctx), loader->epochs - 1, loader->order[at % n]};
        gr__augment_sample(loader->set, &key, loader->maps + i * GR_MAP);
    }
    if (loader->weights && gr_real(loader->ctx) == GR_F64)
        ((double *)loader->weights)[i] = counts;
    else if (loader->weights)
        ((float *)loader->weights)[i] = counts;
}

static void copy_rows(gr_loader *loader, int64_t rows)
{
    gr_exec exec = {.pool = loader->ctx->device->pool};
    if (exec.pool)
        gr_parallel_for(&exec, rows, copy_row, loader);
    for (int64_t i = 0; i < rows && !exec.pool; i++)
        copy_row(loader, i);
}

/* The batch over the first rows of the buffers, normalised. */
static bool present(gr_loader *loader, int64_t rows, int64_t samples, gr_batch *batch)
{
    gr_tensor *x = loader->maps ? gr__augment_batch(loader->set, loader->x.view, loader->map.view)
                                : gr_normalise(loader->x.view, &loader->set->normalise);
    if (x)
        *batch = (gr_batch){x, loader->y.view, loader->weight.view, .n = rows, .samples = samples};
    return x != NULL;
}

static void shape_views(gr_loader *loader, int64_t rows)
{
    set_rows(loader->x.view, rows);
    set_rows(loader->y.view, rows);
    set_rows(loader->weight.view, rows);
    set_rows(loader->map.view, rows);
}

/* Lays out the batch behind the one that is done. False: the epoch is over. */
static bool begin_batch(gr_loader *loader)
{
    const gr_last_batch last = loader->options.last;
    const int64_t full = loader->options.batch;
    loader->position += loader->rows;
    const int64_t left = loader->set->n - loader->position;
    loader->running = left > 0 && (left >= full || last != GR_DROP);
    if (!loader->running)
        return false;
    const int64_t fresh = left < full ? left : full; /* samples not yet seen in this epoch */
    loader->rows = last == GR_KEEP ? fresh : full;
    loader->samples = last == GR_PAD ? fresh : loader->rows;
    loader->done = 0;
    return true;
}

/* Rows of the next piece, and those of them that count. */
static int64_t piece(const gr_loader *loader, int64_t *samples)
{
    const int64_t rows = loader->rows - loader->done, micro = loader->options.micro_batch, left = loader->samples - loader->done;
    const int64_t n = rows < micro ? rows : micro;
    *samples = left < n ? left : n;
    return n;
}

static bool upload(gr_loader *loader)
{
    bool uploaded = loader->in_place || gr_upload(loader->x.view, loader->pixels);
    uploaded = uploaded && (!loader->maps || gr_upload(loader->map.view, loader->maps));
    return uploaded && gr_upload(loader->y.view, loader->labels) &&
           (!loader->weights || gr_upload(loader->weight.view, loader->weights));
}

bool gr_loader_next(gr_loader *loader, gr_batch *batch)
{
    *batch = (gr_batch){0};
    if (!loader || !gr_ok(loader->ctx))
        return false;
    if (!loader->running)
        begin_epoch(loader);
    /* pieces of nothing but padding are left out */
    if (loader->done >= loader->samples && !begin_batch(loader))
        return false;
    int64_t samples, rows = piece(loader, &samples);
    copy_rows(loader, rows);
    shape_views(loader, rows);
    gr_set_update_weight(loader->ctx, (double)loader->samples);
    if (!upload(loader) || !present(loader, rows, samples, batch))
        return false;
    batch->first = loader->done == 0;
    loader->done += rows;
    batch->last = loader->done >= loader->samples;
    return true;
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
