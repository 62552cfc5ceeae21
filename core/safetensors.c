/* safetensors.c - reading by the rules, writing through a temporary file; see safetensors.h. */
#include "core/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/context.h"

enum { MAX_HEADER = 100000000, LENGTH_BYTES = 8 };

static const char *const dtypes[GR_TYPE_COUNT] = {
    [GR_F32] = "F32", [GR_F64] = "F64", [GR_F16] = "F16", [GR_BF16] = "BF16",
    [GR_U8] = "U8",   [GR_I32] = "I32", [GR_I64] = "I64"};

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bool invalid_file(gr_context *ctx, const char *path, const char *rule)
{
    return gr__fail(ctx, GR_BAD_DATA, "%s: not a sound safetensors file: %s; the file is damaged or of another kind",
                    path, rule);
}

/* The whole file into memory. */
static bool read_file(gr_context *ctx, const char *path, gr_safetensors *file)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return gr__fail(ctx, errno == ENOENT ? GR_BAD_DATA : GR_IO_ERROR, "%s: cannot be opened: %s", path,
                        strerror(errno));
    bool sized = fseeko(f, 0, SEEK_END) == 0;
    off_t size = sized ? ftello(f) : -1;
    if (size < 0) {
        fclose(f);
        return gr__fail(ctx, GR_IO_ERROR, "%s: its size cannot be read (is it a folder or a pipe?)", path);
    }
    rewind(f);
    file->size = (size_t)size;
    file->bytes = gr__calloc(ctx, file->size + 1, 1);
    size_t got = file->bytes ? fread(file->bytes, 1, file->size, f) : 0;
    fclose(f);
    if (!file->bytes)
        return false;
    return got == file->size ||
           gr__fail(ctx, GR_IO_ERROR, "%s: could be read only to byte %zu of %zu", path, got, file->size);
}

static uint64_t little_endian_u64(const unsigned char *p)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

/* One entry's shape; returns the rule it breaks or NULL. */
static const char *read_shape(json_t *shape, gr_saved_tensor *t, int64_t *bytes)
{
    if (!json_is_array(shape) || json_array_size(shape) > GR_MAX_DIMS)
        return "a shape is not a list of at most 4 sizes";
    t->ndim = (int)json_array_size(shape);
    *bytes = (int64_t)gr_type_size(t->type);
    for (int i = 0; i < t->ndim; i++) {
        json_t *size = json_array_get(shape, (size_t)i);
        t->shape[i] = json_integer_value(size);
        if (!json_is_integer(size) || t->shape[i] < 0 || __builtin_mul_overflow(*bytes, t->shape[i], bytes))
            return "a shape has a size that is negative, no whole number or too large";
    }
    return NULL;
}

/* One entry of the header; returns the rule it breaks or NULL. data holds the file's tensor bytes. */
static const char *read_entry(const char *name, json_t *entry, const char *data, size_t data_size, gr_saved_tensor *t)
{
    if (strlen(name) >= sizeof t->name)
        return "a tensor's name is longer than 127 bytes";
    snprintf(t->name, sizeof t->name, "%s", name);
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    int type = GR_F32;
    while (type < GR_TYPE_COUNT && (!dtype || strcmp(dtype, dtypes[type])))
        type++;
    if (type == GR_TYPE_COUNT)
        return "a tensor's dtype is missing or not one of F32 F64 F16 BF16 U8 I32 I64";
    t->type = (gr_type)type;
    int64_t bytes;
    const char *rule = read_shape(json_object_get(entry, "shape"), t, &bytes);
    if (rule)
        return rule;
    json_t *offsets = json_object_get(entry, "data_offsets");
    json_t *first = json_array_get(offsets, 0), *last = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last))
        return "data_offsets is not a pair of whole numbers";
    int64_t begin = json_integer_value(first), end = json_integer_value(last);
    if (begin < 0 || end < begin || (uint64_t)end > data_size)
        return "data_offsets point outside the file";
    if (end - begin != bytes)
        return "data_offsets do not fit the shape and dtype";
    t->data = data + begin;
    return NULL;
}

static int by_place(const void *a, const void *b)
{
    const gr_saved_tensor *x = a, *y = b;
    if (x->data != y->data)
        return (const char *)x->data < (const char *)y->data ? -1 : 1;
    return strcmp(x->name, y->name);
}

static size_t size_of(const gr_saved_tensor *t)
{
    size_t bytes = gr_type_size(t->type);
    for (int i = 0; i < t->ndim; i++)
        bytes *= (size_t)t->shape[i];
    return bytes;
}

static const char *read_header(json_t *header, const char *data, size_t data_size, gr_safetensors *file)
{
    const char *name;
    json_t *entry;
    json_object_foreach(header, name, entry)
    {
        if (!strcmp(name, "__metadata__"))
            continue;
        const char *rule = read_entry(name, entry, data, data_size, &file->tensors[file->n]);
        if (rule)
            return rule;
        file->n++;
    }
    qsort(file->tensors, (size_t)file->n, sizeof *file->tensors, by_place);
    const char *end = data;
    for (int i = 0; i < file->n; i++) {
        if (file->tensors[i].data != end)
            return "its tensors overlap or leave a hole";
        end += size_of(&file->tensors[i]);
    }
    return end == data + data_size ? NULL : "there are bytes behind the last tensor";
}

bool gr__safetensors_read(gr_context *ctx, const char *path, gr_safetensors *file)
{
    *file = (gr_safetensors){0};
    const char *rule = NULL;
    json_t *header = NULL;
    if (!read_file(ctx, path, file))
        goto fail;
    const char *bytes = file->bytes;
    uint64_t length = file->size >= LENGTH_BYTES ? little_endian_u64(file->bytes) : 0;
    rule = "it is shorter than its own header";
    if (file->size < LENGTH_BYTES || length > file->size - LENGTH_BYTES)
        goto fail;
    rule = "its header is longer than 100,000,000 bytes";
    if (length > MAX_HEADER)
        goto fail;
    rule = "its header does not begin with '{'";
    if (length == 0 || bytes[LENGTH_BYTES] != '{')
        goto fail;
    rule = "its header is no JSON object, or has a key twice";
    header = json_loadb(bytes + LENGTH_BYTES, length, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(header))
        goto fail;
    file->tensors = gr__calloc(ctx, json_object_size(header) + 1, sizeof *file->tensors);
    if (!file->tensors)
        goto fail;
    rule = read_header(header, bytes + LENGTH_BYTES + length, file->size - LENGTH_BYTES - length, file);
    if (rule)
        goto fail;
    json_decref(header);
    return true;
fail:
    json_decref(header);
    gr__safetensors_free(file);
    return invalid_file(ctx, path, rule ? rule : "");
}

void gr__safetensors_free(gr_safetensors *file)
{
    free(file->tensors);
    free(file->bytes);
    *file = (gr_safetensors){0};
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* The header as text, padded with spaces so that the data begins at a multiple of 8 bytes. NULL: no memory. */
static char *header_text(int n, const gr_saved_tensor *tensors)
{
    json_t *header = json_object();
    size_t begin = 0;
    for (int i = 0; i < n; i++) {
        json_t *shape = json_array();
        for (int d = 0; d < tensors[i].ndim; d++)
            json_array_append_new(shape, json_integer(tensors[i].shape[d]));
        size_t end = begin + size_of(&tensors[i]);
        json_object_set_new(header, tensors[i].name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtypes[tensors[i].type], "shape", shape,
                                      "data_offsets", (json_int_t)begin, (json_int_t)end));
        begin = end;
    }
    char *text = json_dumps(header, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(header);
    size_t length = text ? strlen(text) : 0, padded = (length + 7) / 8 * 8;
    char *grown = text ? realloc(text, padded + 1) : NULL;
    if (!grown) {
        free(text);
        return NULL;
    }
    memset(grown + length, ' ', padded - length);
    grown[padded] = '\0';
    return grown;
}

static bool write_all(FILE *f, const char *header, int n, const gr_saved_tensor *tensors)
{
    unsigned char length[LENGTH_BYTES];
    for (int i = 0; i < LENGTH_BYTES; i++)
        length[i] = (unsigned char)((uint64_t)strlen(header) >> (8 * i));
    bool good = fwrite(length, 1, sizeof length, f) == sizeof length && fputs(header, f) >= 0;
    for (int i = 0; i < n && good; i++)
        good = fwrite(tensors[i].data, 1, size_of(&tensors[i]), f) == size_of(&tensors[i]);
    return good && fflush(f) == 0 && fsync(fileno(f)) == 0;
}

bool gr__safetensors_write(gr_context *ctx, const char *path, int n, const gr_saved_tensor *tensors)
{
    if (!gr_ok(ctx))
        return false;
    char temporary[4096];
    if (snprintf(temporary, sizeof temporary, "%s.tmp.%ld", path, (long)getpid()) >= (int)sizeof temporary)
        return gr__fail(ctx, GR_USAGE, "the path %.64s... is too long", path);
    char *header = header_text(n, tensors);
    if (!header)
        return gr__fail(ctx, GR_NO_MEMORY, "out of host memory for the header of %s", path);
    FILE *f = fopen(temporary, "wb");
    bool opened = f != NULL;
    bool good = opened && write_all(f, header, n, tensors);
    int error = errno;
    if (opened && fclose(f) != 0 && good) {
        good = false;
        error = errno;
    }
    free(header);
    if (good && rename(temporary, path) != 0) {
        good = false;
        error = errno;
    }
    if (good)
        return true;
    if (opened)
        unlink(temporary);
    return gr__fail(ctx, GR_IO_ERROR, "%s: cannot be written: %s", path, strerror(error));
}
