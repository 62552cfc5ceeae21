/* safetensors.c - reading by the rules, writing byte by byte the same; see safetensors.h. */
#include "core/safetensors.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/context.h"
#include "core/whole_file.h"

enum { MAX_HEADER = 100000000, LENGTH_BYTES = 8, SUM_DIGITS = 8 };

static const char checked[] =
    "{\"__metadata__\":{\"checksum\":\""; /* how the header of a file with a checksum begins */
enum { SUM_AT = LENGTH_BYTES + sizeof checked - 1 };
static const char no_sum[] = "00000000";

static const char *const dtypes[GR_TYPE_COUNT] = {
    [GR_F32] = "F32", [GR_F64] = "F64", [GR_F16] = "F16", [GR_BF16] = "BF16",
    [GR_U8] = "U8",   [GR_I32] = "I32", [GR_I64] = "I64"};

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bool invalid_file(gr_context *ctx, const char *path, const char *rule)
{
    return gr__fail(ctx, GR_BAD_DATA, "%s: not a sound safetensors file: %s; the file is damaged or of another kind",
                    path, rule);
}

static uint64_t little_endian_u64(const unsigned char *p)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

/*
 * The length of the header, as the file says it, if it can be true; nothing is read of a file that is none, however
 * large. 0: rule tells.
 */
static uint64_t header_length(const unsigned char *begin, size_t got, uint64_t size, const char **rule)
{
    const uint64_t length = got >= LENGTH_BYTES ? little_endian_u64(begin) : 0;
    *rule = NULL;
    if (got < LENGTH_BYTES || length > size - LENGTH_BYTES)
        *rule = "it is shorter than its own header";
    else if (length > MAX_HEADER)
        *rule = "its header is longer than 100,000,000 bytes";
    else if (length == 0 || begin[LENGTH_BYTES] != '{')
        *rule = "its header does not begin with '{'";
    return *rule ? 0 : length;
}

/* The whole of an open file into memory. *rule: what its first bytes break. */
static bool read_bytes(gr_input_file *in, gr_safetensors *file, const char **rule)
{
    unsigned char begin[LENGTH_BYTES + 1];
    const size_t first = in->size < sizeof begin ? in->size : sizeof begin;
    file->size = in->size;
    if (!gr__input_read(in, begin, first) || header_length(begin, first, in->size, rule) == 0)
        return false;
    file->bytes = gr__calloc(in->ctx, in->size + 1, 1);
    if (!file->bytes)
        return false;
    memcpy(file->bytes, begin, first);
    return gr__input_read(in, (char *)file->bytes + first, in->size - first);
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

/* CRC-32 of a file whose checksum's digits are taken as zeros; they lie in the header. */
static uint32_t sum_of(const unsigned char *length, const char *header, size_t header_size, int n,
                       const gr_saved_tensor *tensors)
{
    const size_t at = SUM_AT - LENGTH_BYTES;
    uLong sum = crc32_z(0, length, LENGTH_BYTES);
    sum = crc32_z(sum, (const Bytef *)header, at);
    sum = crc32_z(sum, (const Bytef *)no_sum, SUM_DIGITS);
    sum = crc32_z(sum, (const Bytef *)header + at + SUM_DIGITS, header_size - at - SUM_DIGITS);
    for (int i = 0; i < n; i++)
        sum = crc32_z(sum, tensors[i].data, size_of(&tensors[i]));
    return (uint32_t)sum;
}

/* Whether a file that carries a checksum has it. */
static bool sum_is_right(gr_safetensors *file, const char *header, size_t length)
{
    char digits[SUM_DIGITS + 1];
    if (length < sizeof checked + SUM_DIGITS || memcmp(header, checked, sizeof checked - 1) != 0)
        return true;
    snprintf(digits, sizeof digits, "%08x", (unsigned)sum_of(file->bytes, header, length, file->n, file->tensors));
    return file->checked = memcmp(header + sizeof checked - 1, digits, SUM_DIGITS) == 0;
}

/* Everything behind the length. Returns the rule that it breaks; NULL: none, or ctx tells. */
static const char *parse(gr_context *ctx, gr_safetensors *file)
{
    const size_t length = (size_t)little_endian_u64(file->bytes);
    const char *header = (const char *)file->bytes + LENGTH_BYTES;
    json_error_t why;
    file->header = json_loadb(header, length, JSON_REJECT_DUPLICATES, &why);
    if (!file->header && json_error_code(&why) == json_error_out_of_memory) {
        gr__fail(ctx, GR_NO_MEMORY, "out of host memory for the header of a safetensors file of %zu bytes", length);
        return NULL;
    }
    if (!json_is_object((json_t *)file->header))
        return "its header is no JSON object, or has a key twice";
    file->tensors = gr__calloc(ctx, json_object_size(file->header) + 1, sizeof *file->tensors);
    if (!file->tensors)
        return NULL;
    const char *rule = read_header(file->header, header + length, file->size - LENGTH_BYTES - length, file);
    return rule ? rule : sum_is_right(file, header, length) ? NULL : "its checksum is not that of its contents";
}

bool gr__safetensors_read_open(gr_input_file *in, gr_safetensors *file)
{
    const char *rule = NULL;
    *file = (gr_safetensors){0};
    if (read_bytes(in, file, &rule))
        rule = parse(in->ctx, file);
    if (!rule && gr_ok(in->ctx))
        return true;
    gr__safetensors_free(file);
    return rule ? invalid_file(in->ctx, in->path, rule) : false;
}

bool gr__safetensors_read(gr_context *ctx, const char *path, gr_safetensors *file)
{
    gr_input_file in;
    *file = (gr_safetensors){0};
    if (!gr_ok(ctx) || !gr__input_open(ctx, path, &in))
        return false;
    const bool good = gr__safetensors_read_open(&in, file);
    gr__input_close(&in);
    return good;
}

void gr__safetensors_free(gr_safetensors *file)
{
    json_decref(file->header);
    free(file->tensors);
    free(file->bytes);
    *file = (gr_safetensors){0};
}

const gr_saved_tensor *gr__safetensors_find(const gr_safetensors *file, const char *name)
{
    for (int i = 0; i < file->n; i++)
        if (!strcmp(file->tensors[i].name, name))
            return &file->tensors[i];
    return NULL;
}

const char *gr__safetensors_text(const gr_safetensors *file, const char *key)
{
    return json_string_value(json_object_get(json_object_get(file->header, "__metadata__"), key));
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* The metadata, the checksum first. NULL: no memory. */
static json_t *metadata(int n, const gr_saved_text *texts)
{
    json_t *o = json_object();
    bool good = o && json_object_set_new(o, "checksum", json_string(no_sum)) == 0;
    for (int i = 0; good && i < n; i++)
        good = json_object_set_new(o, texts[i].key, json_string(texts[i].value)) == 0;
    if (good)
        return o;
    json_decref(o);
    return NULL;
}

/* A tensor's entry; its data begin at *begin, which moves to their end. NULL: no memory. */
static json_t *entry_of(const gr_saved_tensor *t, size_t *begin)
{
    json_t *shape = json_array();
    bool good = shape;
    for (int d = 0; good && d < t->ndim; d++)
        good = json_array_append_new(shape, json_integer(t->shape[d])) == 0;
    const size_t end = *begin + size_of(t);
    json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtypes[t->type], "shape", good ? shape : NULL,
                              "data_offsets", (json_int_t)*begin, (json_int_t)end);
    if (!good)
        json_decref(shape);
    *begin = end;
    return entry;
}

static json_t *header_of(int n, const gr_saved_tensor *tensors, int n_texts, const gr_saved_text *texts)
{
    json_t *header = json_object();
    size_t begin = 0;
    bool good = header && (!texts || json_object_set_new(header, "__metadata__", metadata(n_texts, texts)) == 0);
    for (int i = 0; good && i < n; i++)
        good = json_object_set_new(header, tensors[i].name, entry_of(&tensors[i], &begin)) == 0;
    if (good)
        return header;
    json_decref(header);
    return NULL;
}

/* The header as text, padded with spaces so that the data begins at a multiple of 8 bytes. NULL: no memory. */
static char *header_text(json_t *header)
{
    const size_t flags = JSON_COMPACT | JSON_PRESERVE_ORDER;
    const size_t length = header ? json_dumpb(header, NULL, 0, flags) : 0, padded = (length + 7) / 8 * 8;
    char *text = length > 0 ? malloc(padded + 1) : NULL;
    if (!text)
        return NULL;
    json_dumpb(header, text, length, flags);
    memset(text + length, ' ', padded - length);
    text[padded] = '\0';
    return text;
}

static bool write_all(FILE *f, const unsigned char *length, const char *header, int n, const gr_saved_tensor *tensors)
{
    bool good = fwrite(length, 1, LENGTH_BYTES, f) == LENGTH_BYTES && fputs(header, f) >= 0;
    for (int i = 0; i < n && good; i++)
        good = fwrite(tensors[i].data, 1, size_of(&tensors[i]), f) == size_of(&tensors[i]);
    return good;
}

bool gr__safetensors_write_checked(gr_context *ctx, const char *path, int n, const gr_saved_tensor *tensors,
                                   int n_texts, const gr_saved_text *texts)
{
    gr_whole_file w;
    unsigned char length[LENGTH_BYTES];
    if (!gr_ok(ctx))
        return false;
    json_t *parts = header_of(n, tensors, n_texts, texts);
    char *header = header_text(parts);
    json_decref(parts);
    if (!header)
        return gr__fail(ctx, GR_NO_MEMORY, "out of host memory for the header of %s", path);
    const size_t header_size = strlen(header);
    for (int i = 0; i < LENGTH_BYTES; i++)
        length[i] = (unsigned char)((uint64_t)header_size >> (8 * i));
    if (texts) {
        char digits[SUM_DIGITS + 1];
        snprintf(digits, sizeof digits, "%08x", (unsigned)sum_of(length, header, header_size, n, tensors));
        memcpy(header + SUM_AT - LENGTH_BYTES, digits, SUM_DIGITS);
    }
    const bool written =
        gr__whole_file_open(ctx, &w, path) && gr__whole_file_close(&w, write_all(w.file, length, header, n, tensors));
    free(header);
    return written;
}

bool gr__safetensors_write(gr_context *ctx, const char *path, int n, const gr_saved_tensor *tensors)
{
    return gr__safetensors_write_checked(ctx, path, n, tensors, 0, NULL);
}
