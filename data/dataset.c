/* dataset.c - images in memory, sets over them, and what a set tells of itself. */
#include "data/dataset.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

double gr__machine_memory(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/*
 * Asks for huge pages under a large array, a wish whose fate need not be known: a page fault for every 4 KiB of an
 * image set takes a fifth of the time that decoding it does.
 */
static void prefer_huge_pages(void *p, size_t bytes)
{
    const uintptr_t huge = 2 << 20, begin = ((uintptr_t)p + huge - 1) / huge * huge,
                    end = ((uintptr_t)p + bytes) / huge * huge;
    if (begin < end)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

void *gr__host_alloc(gr_context *ctx, int64_t count, int64_t item_bytes, const char *what)
{
    if (!gr_ok(ctx))
        return NULL;
    int64_t bytes;
    double machine = gr__machine_memory();
    bool countable = !__builtin_mul_overflow(count, item_bytes, &bytes);
    void *p = countable && (double)bytes <= machine ? malloc(bytes > 0 ? (size_t)bytes : 1) : NULL;
    if (p)
        prefer_huge_pages(p, (size_t)bytes);
    else
        gr__fail(
            ctx, GR_NO_MEMORY,
            "out of host memory for %s: %.0f bytes are needed, this machine has %.0f; take fewer or smaller images",
            what, (double)count * (double)item_bytes, machine);
    return p;
}

gr_decoded gr__image_read(const gr_dataset *set, int64_t sample, uint8_t *pixels, char reason[GR__REASON_SIZE],
                          int64_t *reading)
{
    const gr_images *images = set->images;
    const int64_t row = gr__row(set, sample), stored[2] = {images->height, images->width};
    const bool resized = set->size[0] != stored[0] || set->size[1] != stored[1];
    const uint8_t *from = images->pixels ? gr__image_at(images, row) : NULL;
    if (!from && !resized)
        return images->source->read(images->source, row, pixels, reason, reading);
    uint8_t *read = from ? NULL : malloc((size_t)gr__image_bytes(images));
    if (!from && !read)
        return GR__OUT_OF_MEMORY;
    gr_decoded result = from ? GR__DECODED : images->source->read(images->source, row, read, reason, reading);
    if (result == GR__DECODED && resized)
        gr__resize_nearest(from ? from : read, stored, images->channels, set->size, pixels);
    else if (result == GR__DECODED)
        memcpy(pixels, from, (size_t)gr__image_bytes(images));
    free(read);
    return result;
}

void gr__image_name(const gr_dataset *set, int64_t sample, char *text, size_t size)
{
    const gr_image_source *source = set->images->source;
    if (source)
        source->name(source, gr__row(set, sample), text, size);
    else
        snprintf(text, size, "sample %lld", (long long)sample);
}

/* Room for images, with their pixels or without. NULL: recorded. */
static gr_images *images_new(gr_context *ctx, int64_t n, const int64_t shape[3], int classes, bool pixels)
{
    gr_images *images = gr__calloc(ctx, 1, sizeof *images);
    if (!images)
        return NULL;
    *images = (gr_images){.n = n, .height = shape[0], .width = shape[1], .channels = shape[2], .classes = classes};
    int64_t bytes;
    if (__builtin_mul_overflow(shape[0], shape[1], &bytes) || __builtin_mul_overflow(bytes, shape[2], &bytes))
        bytes = INT64_MAX; /* too large whatever n is */
    if (pixels)
        images->pixels = gr__host_alloc(ctx, n, bytes, "the images");
    images->labels = gr__host_alloc(ctx, n, sizeof *images->labels, "the labels");
    images->names = gr__calloc(ctx, (size_t)classes, sizeof *images->names);
    if (images->names)
        return images;
    gr__images_free(images);
    return NULL;
}

gr_images *gr__images_new(gr_context *ctx, int64_t n, const int64_t shape[3], int classes)
{
    return images_new(ctx, n, shape, classes, true);
}

gr_images *gr__images_listed(gr_context *ctx, int64_t n, const int64_t shape[3], int classes)
{
    return images_new(ctx, n, shape, classes, false);
}

bool gr__images_name(gr_context *ctx, gr_images *images, int label, const char *name)
{
    size_t size = strlen(name) + 1;
    char *copy = gr__calloc(ctx, 1, size);
    if (!copy)
        return false;
    memcpy(copy, name, size);
    free(images->names[label]);
    images->names[label] = copy;
    return true;
}

void gr__images_free(void *object)
{
    gr_images *images = object;
    if (!images)
        return;
    for (int i = 0; images->names && i < images->classes; i++)
        free(images->names[i]);
    if (images->source)
        images->source->close(images->source);
    free(images->names);
    if (images->map)
        munmap(images->map, (size_t)images->map_size);
    else
        free(images->pixels);
    free(images->labels);
    free(images->places);
    free(images->files);
    free(images);
}

static void destroy_set(void *object)
{
    gr_dataset *set = object;
    free(set->rows);
    free(set);
}

gr_dataset *gr__dataset_own(gr_context *ctx, gr_images *images)
{
    if (!gr__own(ctx, images, gr__images_free))
        return NULL;
    gr_dataset *set = gr__calloc(ctx, 1, sizeof *set);
    if (!set)
        return NULL;
    *set = (gr_dataset){.ctx = ctx, .images = images, .n = images->n, .size = {images->height, images->width}};
    return gr__own(ctx, set, destroy_set) ? set : NULL;
}

gr_dataset *gr__dataset_subset(const gr_dataset *set, const int64_t *picks, int64_t n)
{
    gr_context *ctx = set->ctx;
    if (set->plan) { /* its samples are not images any more */
        gr__fail(ctx, GR_USAGE, "a part of an augmented set; split it first, then augment the parts");
        return NULL;
    }
    gr_dataset *part = n > 0 ? gr__calloc(ctx, 1, sizeof *part) : NULL;
    if (!part)
        return NULL;
    *part = *set;
    part->n = n;
    part->rows = gr__host_alloc(ctx, n, sizeof *part->rows, "the samples of a subset");
    for (int64_t i = 0; part->rows && i < n; i++)
        part->rows[i] = gr__row(set, picks[i]);
    if (!part->rows) {
        destroy_set(part);
        return NULL;
    }
    return gr__own(ctx, part, destroy_set) ? part : NULL;
}

gr_dataset *gr__dataset_range(gr_dataset *set, int64_t first, int64_t n)
{
    int64_t *picks = set ? gr__host_alloc(set->ctx, n, sizeof *picks, "the samples of a subset") : NULL;
    if (!picks)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        picks[i] = first + i;
    gr_dataset *part = gr__dataset_subset(set, picks, n);
    free(picks);
    return part;
}

int64_t gr_dataset_size(const gr_dataset *set)
{
    return set ? set->n : 0;
}

int gr_dataset_classes(const gr_dataset *set)
{
    return set ? set->images->classes : 0;
}

const char *gr_dataset_class_name(const gr_dataset *set, int i)
{
    return set && i >= 0 && i < set->images->classes ? set->images->names[i] : NULL;
}

void gr_dataset_shape(const gr_dataset *set, int64_t shape[3])
{
    const int64_t *size = set && set->plan ? set->batch_size : set ? set->size : (int64_t[]){0, 0};
    shape[0] = size[0];
    shape[1] = size[1];
    shape[2] = set ? set->images->channels : 0;
}

int64_t gr_dataset_skipped(const gr_dataset *set)
{
    return set ? set->images->skipped : 0;
}

const char *gr_dataset_manifest(const gr_dataset *set)
{
    return set ? set->images->manifest : "";
}

const uint8_t *gr_dataset_image(const gr_dataset *set, int64_t i)
{
    return set && i >= 0 && i < set->n && set->images->pixels ? gr__image_at(set->images, gr__row(set, i)) : NULL;
}

int gr_dataset_label(const gr_dataset *set, int64_t i)
{
    return set && i >= 0 && i < set->n ? set->images->labels[gr__row(set, i)] : -1;
}

void gr_dataset_normalise(gr_dataset *set, const gr_normalise_args *args)
{
    if (set)
        set->normalise = args ? *args : (gr_normalise_args){0};
}

bool gr_dataset_resize(gr_dataset *set, int height, int width)
{
    if (!set || !gr_ok(set->ctx))
        return false;
    if (set->plan)
        return gr__fail(set->ctx, GR_USAGE, "gr_dataset_resize: the set is augmented; resize it before");
    if (height < 1 || width < 1)
        return gr__fail(set->ctx, GR_USAGE, "gr_dataset_resize: %d x %d; both sides must be at least 1", height, width);
    set->size[0] = height;
    set->size[1] = width;
    return true;
}

/*
 * One word into the hash. Each step is a bijection of h for a given word and of the word for a given h, so sets that
 * differ in one word never collide. The shift brings what the multiplication has gathered above back down.
 * The multiplier is 2^64 / golden ratio, made odd.
 */
static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* Bytes as little-endian words; the last one is filled up with zeros. */
static uint64_t mix_bytes(uint64_t h, const uint8_t *bytes, int64_t n)
{
    for (int64_t i = 0; i < n; i += 8) {
        uint8_t part[8] = {0};
        memcpy(part, bytes + i, n - i < 8 ? (size_t)(n - i) : 8);
        uint64_t word = 0;
        for (int k = 7; k >= 0; k--)
            word = word << 8 | part[k];
        h = mix(h, word);
    }
    return h;
}

void gr_dataset_hash(const gr_dataset *set, char text[17])
{
    text[0] = '\0';
    if (!set->images->pixels)
        return;
    const gr_images *images = set->images;
    const int64_t shape[3] = {images->height, images->width,
                              images->channels}; /* as stored, whatever batches are resized to */
    uint64_t h = mix(0, (uint64_t)gr_dataset_size(set));
    for (int i = 0; i < 3; i++)
        h = mix(h, (uint64_t)shape[i]);
    for (int64_t i = 0; i < gr_dataset_size(set); i++) {
        h = mix(h, (uint64_t)gr_dataset_label(set, i));
        h = mix_bytes(h, gr_dataset_image(set, i), gr__image_bytes(images));
    }
    snprintf(text, 17, "%016" PRIx64, mix(h, 0)); /* a last round for the last word's high bits */
}
