/*
 * safetensors.h - the safetensors file format, strictly read and byte-stably written.
 *
 * File: u64 little-endian N (at most 100,000,000); N bytes of JSON that begins with '{' and may be padded with spaces;
 * then the data. Per tensor: dtype, shape, data_offsets [begin, end). Offsets cover the data without hole or overlap.
 * Format: https://huggingface.co/docs/safetensors
 */
#ifndef GRADUS_SAFETENSORS_H
#define GRADUS_SAFETENSORS_H

#include "core/input_file.h"

typedef struct {
    char name[128];
    gr_type type;
    int ndim;
    int64_t shape[GR_MAX_DIMS];
    const void *data; /* into the file's bytes (reading) or the caller's (writing) */
} gr_saved_tensor;

/* A line of the file's metadata. */
typedef struct {
    const char *key, *value;
} gr_saved_text;

typedef struct {
    int n;
    gr_saved_tensor *tensors; /* in order of their data */
    void *bytes;              /* the file's contents */
    size_t size;
    void *header; /* the JSON library's */
    bool checked; /* the file carries a checksum, and it is right */
} gr_safetensors;

/*
 * Reads a whole file; one that carries a checksum must have it. False: recorded in ctx, with the file, the rule that it
 * breaks and nothing left to free.
 */
bool gr__safetensors_read(gr_context *ctx, const char *path, gr_safetensors *file);
bool gr__safetensors_read_open(gr_input_file *in, gr_safetensors *file); /* one that is open already */
void gr__safetensors_free(gr_safetensors *file);

const gr_saved_tensor *gr__safetensors_find(const gr_safetensors *file, const char *name); /* NULL: there is none */

/* A line of the metadata. NULL: there is none. */
const char *gr__safetensors_text(const gr_safetensors *file, const char *key);

/*
 * Writes n tensors in the given order to path; the old file stays whole until the new one is. False: recorded in ctx,
 * nothing left behind.
 */
bool gr__safetensors_write(gr_context *ctx, const char *path, int n, const gr_saved_tensor *tensors);

/*
 * The same with metadata, in front of which comes a checksum of the whole file: CRC-32, its own digits taken as zeros.
 */
bool gr__safetensors_write_checked(gr_context *ctx, const char *path, int n, const gr_saved_tensor *tensors,
                                   int n_texts, const gr_saved_text *texts);

#endif
