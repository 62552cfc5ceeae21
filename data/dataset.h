/*
 * dataset.h - what the files of data/ share: images in memory, and sets that are views of them.
 */
#ifndef GRADUS_DATASET_H
#define GRADUS_DATASET_H

#include "core/context.h"
#include "data/data.h"
#include "data/decoding/image.h"
#include "data/sha256.h"

/* Where pictures come from that are not kept in memory. Its functions may be called by several threads at a time. */
typedef struct gr_image_source {
    /* Picture row, [height, width, channels] as the set stores them. Anything but GR__DECODED: reason says why. */
    gr_decoded (*read)(const struct gr_image_source *s, int64_t row, uint8_t *pixels, char reason[GR__REASON_SIZE],
                       int64_t *reading); /* gains the nanoseconds that reading the file has taken */
    void (*name)(const struct gr_image_source *s, int64_t row, char *text, size_t size); /* "Cat/0.jpg" */
    void (*close)(struct gr_image_source *s);
} gr_image_source;

/* Images, or rows of features as images of one pixel's height. Sets share them; they are freed with the context. */
typedef struct {
    int64_t n, height, width, channels; /* channels: 3 (RGB) or 1 */
    uint8_t *pixels;                    /* [n, height, width, channels]; NULL: not kept */
    gr_image_source *source;            /* where they come from then */
    int32_t *labels;                    /* [n], each in 0..classes-1 */
    int classes;
    char **names;                   /* [classes] */
    int64_t skipped;                /* files that were left out */
    char manifest[GR__SHA256_TEXT]; /* hash of the manifest of the files it was made of; "": of none */
    int64_t *places; /* [n] which file of its class each was, left-out ones counted; NULL: not made of files */
    int64_t *files;  /* [classes] how many files each class had, or NULL */
    void *map;       /* the mapped file that pixels lie in; NULL: they are allocated */
    int64_t map_size;
} gr_images;

typedef struct gr__plan gr__plan;

struct gr_dataset {
    gr_context *ctx;
    const gr_images *images;
    int64_t n;
    int64_t *rows;         /* [n], which image each sample is; NULL: sample i is image i */
    int64_t size[2];       /* height and width of images in batches: their own, or what they are resized to */
    const gr__plan *plan;  /* what happens to a batch then; NULL: nothing */
    int64_t batch_size[2]; /* height and width after the plan */
    int64_t plain;         /* so many samples, the first, are left out of it */
    gr_normalise_args normalise;
};

double gr__machine_memory(void); /* bytes */

/*
 * Host memory for count items of item_bytes each, not cleared, freed with free(). Refuses more than the machine has, so
 * that a set too large is an error here and not a kill later. NULL: recorded, naming what it is for and the bytes.
 */
void *gr__host_alloc(gr_context *ctx, int64_t count, int64_t item_bytes, const char *what);

/*
 * One sample as batches want it, [set->size, channels]: copied or decoded, and resized. For any thread. Anything but
 * GR__DECODED: reason says why. reading gains the nanoseconds that went into reading files.
 */
gr_decoded gr__image_read(const gr_dataset *set, int64_t sample, uint8_t *pixels, char reason[GR__REASON_SIZE],
                          int64_t *reading);
void gr__image_name(const gr_dataset *set, int64_t sample, char *text, size_t size); /* "Cat/0.jpg" or "sample 7" */

/* Room for n images of shape [height, width, channels] and their labels. NULL: recorded. */
gr_images *gr__images_new(gr_context *ctx, int64_t n, const int64_t shape[3], int classes);
gr_images *gr__images_listed(gr_context *ctx, int64_t n, const int64_t shape[3], int classes); /* without pixels */
bool gr__images_name(gr_context *ctx, gr_images *images, int label, const char *name);         /* keeps a copy */
void gr__images_free(void *images);

static inline int64_t gr__image_bytes(const gr_images *images)
{
    return images->height * images->width * images->channels;
}

static inline uint8_t *gr__image_at(const gr_images *images, int64_t row)
{
    return images->pixels + row * gr__image_bytes(images);
}

static inline int64_t gr__row(const gr_dataset *set, int64_t sample)
{
    return set->rows ? set->rows[sample] : sample;
}

/* Hands images to the context (freed at once on failure) and returns the set of all of them. NULL: recorded. */
gr_dataset *gr__dataset_own(gr_context *ctx, gr_images *images);

/* Samples first .. first+n-1 of set. NULL: recorded, or set is NULL or n is 0. */
gr_dataset *gr__dataset_range(gr_dataset *set, int64_t first, int64_t n);

/* The samples whose positions in set are given, in that order; picks is copied. NULL: recorded, or n is 0. */
gr_dataset *gr__dataset_subset(const gr_dataset *set, const int64_t *picks, int64_t n);

#endif
