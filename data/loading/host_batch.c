/* host_batch.c - see host_batch.h. */
#include "data/loading/host_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/augmentation/augment.h"

int64_t gr__host_batch_row_bytes(const gr_dataset *set)
{
    return set->size[0] * set->size[1] * set->images->channels;
}

bool gr__host_batch_make(const gr_dataset *set, const gr_host_batch_options *o, gr_host_batch *b)
{
    gr_context *ctx = set->ctx;
    *b = (gr_host_batch){.bad = INT64_MAX};
    pthread_mutex_init(&b->lock, NULL);
    b->labels = gr__host_alloc(ctx, o->room, sizeof *b->labels, "the labels of a batch");
    b->picks = gr__host_alloc(ctx, o->batch, sizeof *b->picks, "the samples of a batch");
    if (o->padding)
        b->weights = gr__host_alloc(ctx, o->room, (int64_t)gr_type_size(gr_real(ctx)), "the weights of a batch");
    if (set->plan)
        b->maps = gr__host_alloc(ctx, o->room, GR_MAP * sizeof *b->maps, "the maps of a batch");
    if (o->on_device)
        b->index = gr__host_alloc(ctx, o->room, sizeof *b->index, "the samples of a batch");
    else if (!o->in_place && !ctx->options.plan_only) /* a plan may ask for more than there is room for */
        b->pixels = gr__host_alloc(ctx, o->room, gr__host_batch_row_bytes(set), "a batch of images");
    return gr_ok(ctx);
}

void gr__host_batch_free(const gr_host_batch_options *o, gr_host_batch *b)
{
    pthread_mutex_destroy(&b->lock);
    free(b->picks);
    free(b->labels);
    free(b->weights);
    free(b->index);
    free(b->maps);
    if (!o->in_place)
        free(b->pixels);
    *b = (gr_host_batch){0};
}

/* Several rows may fail at a time; the first of the batch is the one to be told of, whoever met it first. */
static void note_failure(gr_host_batch *b, int64_t i, gr_decoded why, const char *reason)
{
    pthread_mutex_lock(&b->lock);
    if (i < b->bad) {
        b->bad = i;
        b->why = why;
        snprintf(b->reason, sizeof b->reason, "%s", reason);
    }
    pthread_mutex_unlock(&b->lock);
}

static void fill_pixels(const gr_dataset *set, gr_host_batch *b, int64_t i, int64_t *reading)
{
    uint8_t *pixels = b->pixels + (i - b->first) * gr__host_batch_row_bytes(set);
    char reason[GR__REASON_SIZE] = "";
    if (b->picks[i] < 0) {
        memset(pixels, 0, (size_t)gr__host_batch_row_bytes(set));
        return;
    }
    gr_decoded read = gr__image_read(set, b->picks[i], pixels, reason, reading);
    if (read != GR__DECODED)
        note_failure(b, i, read, reason);
}

void gr__host_batch_fill(const gr_dataset *set, gr_host_batch *b, int64_t i, int64_t *reading)
{
    const int64_t pick = b->picks[i], at = i - b->first;
    const bool counts = pick >= 0;
    if (b->pixels)
        fill_pixels(set, b, i, reading);
    if (b->index)
        b->index[at] = (int32_t)(counts && b->by_row ? gr__row(set, pick) : pick);
    if (b->maps && counts)
        gr__augment_sample(set, &(gr__plan_key){gr_seed(set->ctx), b->epoch, pick}, b->maps + at * GR_MAP);
    else if (b->maps)
        gr__plan_nothing(b->maps + at * GR_MAP);
    b->labels[at] = counts ? set->images->labels[gr__row(set, pick)] : 0;
    if (b->weights && gr_real(set->ctx) == GR_F64)
        ((double *)b->weights)[at] = counts;
    else if (b->weights)
        ((float *)b->weights)[at] = counts;
}

bool gr__host_batch_good(const gr_dataset *set, const gr_host_batch *b)
{
    if (b->bad == INT64_MAX)
        return true;
    char name[512];
    const int64_t sample = b->picks[b->bad];
    gr__image_name(set, sample, name, sizeof name);
    if (b->why == GR__OUT_OF_MEMORY)
        return gr__fail(set->ctx, GR_NO_MEMORY, "out of host memory while decoding %s", name);
    if (b->why == GR__UNREADABLE)
        return gr__fail(set->ctx, GR_IO_ERROR, "%s cannot be read in epoch %lld: %s", name, (long long)b->epoch + 1,
                        b->reason);
    return gr__fail(
        set->ctx, GR_BAD_DATA,
        "%s cannot be decoded in epoch %lld, though it could when the set was opened: %s; restore it, or preload the "
        "set, which does not need the file again",
        name, (long long)b->epoch + 1, b->reason);
}
