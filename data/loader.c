/*
 * loader.c - makes batches: the order of an epoch, its last batch, and the way of a batch to the device.
 *
 * A loader has one set of batch buffers on the device, made when it is opened: batches arrive at fixed addresses. The
 * tensors that callers see are views of their first rows, which is how a short last batch shares the storage. A batch larger
 * than a micro-batch comes in pieces, one after the other in the same buffers: memory does not grow with the batch.
 *
 * On the host a batch is filled when it is asked for, by the context's threads, or ahead of that by workers into a ring.
 * What is in a batch is decided before anyone fills it, so it is the same either way.
 */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/parallel.h"
#include "core/philox.h"
#include "data/augment.h"
#include "data/host_batch.h"
#include "data/resident.h"
#include "data/ring.h"

enum { DEFAULT_PREFETCH = 2, MOST_WORKERS = 8 /* that are taken unasked */, PIECE_BYTES = 1 << 20 };

/* Device memory for a full batch, and the tensor over its first rows that callers see. */
typedef struct {
    gr_tensor *storage, *view;
} gr_buffer;

struct gr_loader {
    gr_dataset *set;
    gr_context *ctx;
    gr_loader_options options;

    /* what comes next into a host batch */
    int64_t *order;   /* [n] of the epoch that is being filled */
    int64_t filling;  /* that epoch, from 0; below the options' first: none yet */
    int64_t position; /* samples of it already dealt out */

    /* what comes next out */
    int64_t epochs;     /* begun */
    int64_t given;      /* batches of this epoch, the one under way included */
    bool running;       /* inside an epoch */
    gr_host_batch *now; /* the batch under way; NULL: none yet */
    int64_t done;       /* rows of it that have been given out */

    gr_host_batch_options batch_options;
    int n_slots;
    gr_host_batch *slots; /* [n_slots] */
    int64_t piece_rows;   /* rows that a thread fills at a time */
    int workers;
    gr_ring *ring; /* NULL: no workers, one slot */

    gr_resident resident;   /* the set on the device, where it was asked there */
    gr_buffer x, y, weight; /* u8 [micro, H, W, C] unless resident, i32 [micro], real [micro] (NULL unless padding) */
    gr_buffer index;        /* i32 [micro] where resident */
    gr_buffer map;          /* i32 [micro, GR_MAP] where the set is augmented */
    int64_t wait, copy;     /* nanoseconds, see gr_loader_time */
    _Atomic int64_t making, reading; /* the same, of all threads */
};

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

/* --- what is in a batch --------------------------------------------------------------------------------------------- */

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

/* Deals the samples of the next batch out to a slot; behind the last one comes what fills up. */
static void prepare(void *user, int slot)
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

static void fill_piece(void *user, int slot, int64_t piece)
{
    gr_loader *loader = user;
    gr_host_batch *b = &loader->slots[slot];
    fill_rows(loader, b, piece * loader->piece_rows, least((piece + 1) * loader->piece_rows, b->rows));
}

/* --- opening -------------------------------------------------------------------------------------------------------- */

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
 * Where computing leaves the processors alone workers fill batches meanwhile, unless told otherwise. Where it does not, they
 * would only take them from it.
 */
static int workers_of(const gr_loader *loader)
{
    const int asked = loader->options.workers, cpus = gr__usable_cpus();
    if (loader->ctx->planning || asked == GR_NO_WORKERS)
        return 0;
    return asked ? asked : !loader->ctx->device->wait ? 0 : cpus < MOST_WORKERS ? cpus : MOST_WORKERS;
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
 * Memory of batches on the host: whole ones where workers fill them, else pieces, which are gathered straight into x where that
 * is the host's own.
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
                                                .prepare = prepare,
                                                .fill = fill_piece});
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

/* --- giving batches out --------------------------------------------------------------------------------------------- */

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
        prepare(loader, 0);
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

/* Fills the next rows of the batch under way by the context's threads. */
static void fill_now(gr_loader *loader, int64_t rows)
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
        fill_now(loader, rows);
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
