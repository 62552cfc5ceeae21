/* resident.c - see resident.h. */
#include "data/loading/resident.h"

#include <stdio.h>
#include <stdlib.h>

#include "data/workers.h"

enum { CHUNK_BYTES = 4 << 20 }; /* decoded or copied at a time, on the way to the device */

typedef struct {
    const gr_dataset *set;
    uint8_t *pixels;      /* of a chunk */
    int64_t first, bytes; /* its first sample; bytes of a picture */
    gr_decoded *results;
    char (*reasons)[GR__REASON_SIZE];
} chunk;

static void read_one(void *arg, int64_t i)
{
    chunk *c = arg;
    int64_t reading = 0;
    c->results[i] = gr__image_read(c->set, c->first + i, c->pixels + i * c->bytes, c->reasons[i], &reading);
}

/* False: recorded. */
static bool check_chunk(const chunk *c, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        char name[512];
        if (c->results[i] == GR__DECODED)
            continue;
        gr__image_name(c->set, c->first + i, name, sizeof name);
        return gr__fail(c->set->ctx, gr__decoded_code(c->results[i]), "%s cannot be brought to the device: %s", name,
                        c->results[i] == GR__OUT_OF_MEMORY ? "out of host memory" : c->reasons[i]);
    }
    return true;
}

static bool copy_set(const gr_dataset *set, gr_resident *r)
{
    gr_context *ctx = set->ctx;
    gr_workers workers;
    chunk c = {.set = set, .bytes = set->size[0] * set->size[1] * set->images->channels};
    const int64_t most = c.bytes < CHUNK_BYTES ? CHUNK_BYTES / c.bytes : 1;
    c.pixels = gr__host_alloc(ctx, most, c.bytes, "a part of the images on their way to the device");
    c.results = gr__host_alloc(ctx, most, sizeof *c.results, "the results of decoding");
    c.reasons = gr__host_alloc(ctx, most, sizeof *c.reasons, "the results of decoding");
    bool good = gr__workers_open(ctx, &workers);
    for (; good && c.first < set->n; c.first += most) {
        const int64_t n = set->n - c.first < most ? set->n - c.first : most;
        gr_device *d = ctx->device;
        gr_parallel_for(&workers.exec, n, read_one, &c);
        good = check_chunk(&c, n);
        if (good && !d->upload(d, (char *)r->memory + c.first * c.bytes, c.pixels, (size_t)(n * c.bytes)))
            good = gr__device_failed(ctx, "a data set was brought to it");
    }
    gr__workers_close(&workers);
    free(c.pixels);
    free(c.results);
    free(c.reasons);
    return good;
}

bool gr__resident_make(gr_dataset *set, gr_resident *r)
{
    gr_context *ctx = set->ctx;
    const gr_images *images = set->images;
    int64_t shape[4] = {images->n, set->size[0], set->size[1], images->channels};
    const bool resized = set->size[0] != images->height || set->size[1] != images->width;
    *r = (gr_resident){.by_row = ctx->device->reads_host && !images->source && !resized};
    if (r->by_row) {
        r->pictures = gr__tensor_over(ctx, GR_U8, 4, shape, images->pixels);
        return r->pictures;
    }
    shape[0] = set->n;
    if (!gr__shape_check(ctx, GR_U8, 4, shape))
        return false;
    r->bytes = (size_t)(shape[0] * shape[1] * shape[2] * shape[3]);
    if (!gr__persistent_alloc(ctx, r->bytes, "the data set on the device (to preload it to ram only takes none there)",
                              &r->memory)) {
        r->bytes = 0;
        return false;
    }
    r->pictures = gr__tensor_over(ctx, GR_U8, 4, shape, r->memory);
    return r->pictures && (ctx->options.plan_only || copy_set(set, r));
}

void gr__resident_free(gr_context *ctx, gr_resident *r)
{
    if (r->pictures)
        gr__disown(ctx, r->pictures);
    if (r->bytes)
        gr__persistent_free(ctx, r->memory, r->bytes);
    *r = (gr_resident){0};
}
