/*
 * npz_read.c - reads NumPy's archive, as npz.c, numpy.savez and numpy.savez_compressed write it: a zip file of .npy
 * files, stored or deflated. Format: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 to 4.5.
 *
 * Believed is the directory at its end, and only where each member's own header says the same. Members lie in the
 * directory's order and not over each other; more than 4 GB (zip64) no network has that is trained here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "nn/exchange/exchange.h"

enum { LOCAL_HEADER = 30, ENTRY = 46, END_RECORD = 22, STORED = 0, DEFLATED = 8, ENCRYPTED = 1, MOST_INFLATED = 1032 };

static const uint32_t in_zip64 = UINT32_MAX; /* a size that stands elsewhere */
static const char zip64[] = "it is of the zip64 kind, for more than 4 GB or 65,534 arrays; save it as safetensors";
static const char damaged[] = "its directory is damaged";

/* An archive while it is read. Offsets and sizes are the file's once checked. */
typedef struct {
    gr_context *ctx;
    const unsigned char *bytes;
    size_t size;           /* of the archive */
    size_t directory, end; /* where it begins, and the record behind it */
    size_t free;           /* behind the last member so far */
    const char *name;      /* of the array at fault, not ended by a 0; NULL: the archive is */
    int length;            /* of that name */
    char *to;              /* where the next member's contents go */
} archive;

/* An entry of the directory. */
typedef struct {
    const char *name;
    uint32_t method, sum;
    size_t length, at, packed, size; /* of the name; its data */
} member;

static uint32_t le16(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t le32(const unsigned char *p)
{
    return le16(p) | le16(p + 2) << 16;
}

/* --- the directory; each returns the rule that is broken, NULL: none ---------------------------------------------- */

static const char *read_end(archive *a, int *n)
{
    if (a->size < END_RECORD || memcmp(a->bytes + a->size - END_RECORD, "PK\5\6", 4) != 0)
        return "it does not end as a zip archive does; it is cut short";
    a->end = a->size - END_RECORD;
    const unsigned char *p = a->bytes + a->end;
    const uint32_t entries = le16(p + 10), size = le32(p + 12), at = le32(p + 16);
    if (entries == UINT16_MAX || size == in_zip64 || at == in_zip64)
        return zip64;
    if (le16(p + 4) != 0 || le16(p + 6) != 0 || le16(p + 8) != entries || le16(p + 20) != 0)
        return "it is one of several volumes, or has a comment";
    if ((uint64_t)at + size != a->end || entries > size / ENTRY)
        return "its directory is not where it should be";
    a->directory = at;
    *n = (int)entries;
    return NULL;
}

/* The name of an array is that of its file, without ".npy". */
static const char *check_name(const member *m)
{
    enum { SUFFIX = 4 };
    if (m->length <= SUFFIX || memcmp(m->name + m->length - SUFFIX, ".npy", SUFFIX) != 0)
        return "it is no .npy file";
    if (m->length - SUFFIX >= sizeof((gr_saved_tensor *)0)->name)
        return "its name is longer than 127 bytes";
    for (size_t i = 0; i < m->length; i++)
        if (m->name[i] < ' ' || m->name[i] > '~')
            return "its name has characters beyond ASCII";
    return NULL;
}

/* What the directory says that no archive of NumPy's has. */
static const char *check_entry(const unsigned char *p, const member *m)
{
    if (m->packed == in_zip64 || m->size == in_zip64 || m->at == in_zip64)
        return zip64;
    if (le16(p + 8) & ENCRYPTED)
        return "it is encrypted";
    if (m->method != STORED && m->method != DEFLATED)
        return "it is packed by a method that is neither stored nor deflated";
    if (m->method == STORED ? m->packed != m->size : m->size / MOST_INFLATED > m->packed)
        return "its sizes are not those of its method";
    return check_name(m);
}

/* Finds the data behind the member's own header. */
static const char *find_data(archive *a, member *m)
{
    const size_t local = m->at;
    if (local < a->free || local > a->directory || a->directory - local < LOCAL_HEADER)
        return "it is not where its directory says, behind the one before";
    const unsigned char *p = a->bytes + local;
    const size_t name = le16(p + 26), head = LOCAL_HEADER + name + le16(p + 28);
    if (memcmp(p, "PK\3\4", 4) != 0 || head > a->directory - local || m->packed > a->directory - local - head)
        return "it is not where its directory says";
    if (name != m->length || memcmp(p + LOCAL_HEADER, m->name, name) != 0 || le16(p + 8) != m->method)
        return "it has another name or method in front of its data";
    m->at = local + head;
    a->free = m->at + m->packed;
    return NULL;
}

/* The entry at *at, which moves behind it. */
static const char *read_entry(archive *a, size_t *at, member *m)
{
    const unsigned char *p = a->bytes + *at;
    a->name = NULL;
    if (a->end - *at < ENTRY || memcmp(p, "PK\1\2", 4) != 0)
        return damaged;
    *m = (member){
        (const char *)p + ENTRY, le16(p + 10), le32(p + 16), le16(p + 28), le32(p + 42), le32(p + 20), le32(p + 24)};
    const size_t length = ENTRY + m->length + le16(p + 30) + le16(p + 32);
    if (length > a->end - *at)
        return damaged;
    *at += length;
    a->name = m->name;
    a->length = (int)m->length;
    const char *rule = check_entry(p, m);
    return rule ? rule : find_data(a, m);
}

/* Checks all entries; *bytes: of the members when they are unpacked. */
static const char *check_directory(archive *a, int n, uint64_t *bytes)
{
    size_t at = a->directory;
    member m;
    *bytes = 0;
    for (int i = 0; i < n; i++) {
        const char *rule = read_entry(a, &at, &m);
        if (rule)
            return rule;
        *bytes += m.size;
    }
    a->name = NULL;
    return at != a->end ? damaged : *bytes >= in_zip64 ? zip64 : NULL;
}

/* --- members ------------------------------------------------------------------------------------------------------ */

static const char *inflate_member(archive *a, const member *m)
{
    z_stream z = {.next_in = (Bytef *)(a->bytes + m->at),
                  .avail_in = (uInt)m->packed,
                  .next_out = (Bytef *)a->to,
                  .avail_out = (uInt)m->size};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) {
        gr__fail(a->ctx, GR_NO_MEMORY, "out of host memory for unpacking %.*s", (int)m->length, m->name);
        return NULL;
    }
    const int result = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    if (result == Z_MEM_ERROR)
        gr__fail(a->ctx, GR_NO_MEMORY, "out of host memory for unpacking %.*s", (int)m->length, m->name);
    return result == Z_MEM_ERROR || (result == Z_STREAM_END && z.avail_out == 0 && z.avail_in == 0)
               ? NULL
               : "it does not unpack to what its directory says";
}

/* A member's contents to a->to, which moves behind them, and what they say of the array. NULL: none is broken, or ctx
 * tells. */
static const char *read_member(archive *a, const member *m, gr_saved_tensor *t)
{
    const char *rule = NULL;
    if (m->method == STORED)
        memcpy(a->to, a->bytes + m->at, m->size);
    else
        rule = inflate_member(a, m);
    if (rule || !gr_ok(a->ctx))
        return rule;
    if ((uint32_t)crc32_z(0, (const Bytef *)a->to, m->size) != m->sum)
        return "its checksum is not that of its contents";
    snprintf(t->name, sizeof t->name, "%.*s", (int)m->length - 4, m->name);
    rule = gr__npy_read(a->ctx, a->to, m->size, t);
    a->to += m->size;
    return rule;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const gr_saved_tensor *const *)a)->name, (*(const gr_saved_tensor *const *)b)->name);
}

static const char *check_twins(archive *a, const gr_safetensors *file)
{
    const gr_saved_tensor **sorted = gr__calloc(a->ctx, (size_t)file->n + 1, sizeof *sorted);
    const char *rule = NULL;
    for (int i = 0; sorted && i < file->n; i++)
        sorted[i] = &file->tensors[i];
    if (sorted)
        qsort(sorted, (size_t)file->n, sizeof *sorted, by_name);
    for (int i = 1; sorted && !rule && i < file->n; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0) {
            a->name = sorted[i]->name;
            a->length = (int)strlen(a->name);
            rule = "it is there twice";
        }
    free(sorted);
    return rule;
}

static const char *read_members(archive *a, int n, uint64_t bytes, gr_safetensors *file)
{
    size_t at = a->directory;
    const char *rule = NULL;
    member m;
    file->size = (size_t)bytes;
    file->bytes = a->to = gr__calloc(a->ctx, file->size + 1, 1);
    file->tensors = gr__calloc(a->ctx, (size_t)n + 1, sizeof *file->tensors);
    a->free = 0;
    while (!rule && gr_ok(a->ctx) && file->n < n) {
        rule = read_entry(a, &at, &m);
        if (!rule)
            rule = read_member(a, &m, &file->tensors[file->n++]);
    }
    return rule || !gr_ok(a->ctx) ? rule : check_twins(a, file);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* False: recorded. */
static bool parse(archive *a, const char *path, gr_safetensors *file)
{
    uint64_t bytes;
    int n;
    const char *rule = read_end(a, &n);
    if (!rule)
        rule = check_directory(a, n, &bytes);
    if (!rule)
        rule = read_members(a, n, bytes, file);
    if (rule && gr_ok(a->ctx))
        gr__fail(a->ctx, GR_BAD_DATA,
                 "%s: not a sound .npz archive: %s%.*s%s%s; the file is damaged or of another kind", path,
                 a->name ? "of " : "", a->name ? a->length : 0, a->name ? a->name : "", a->name ? ", " : "", rule);
    return gr_ok(a->ctx);
}

bool gr__npz_read_open(gr_input_file *in, gr_safetensors *file)
{
    *file = (gr_safetensors){0};
    if (in->size > in_zip64)
        return gr__fail(in->ctx, GR_BAD_DATA, "%s: not a sound .npz archive: %s", in->path, zip64);
    unsigned char *bytes = gr__calloc(in->ctx, in->size + 1, 1);
    archive a = {.ctx = in->ctx, .bytes = bytes, .size = in->size};
    const bool good = bytes && gr__input_read(in, bytes, in->size) && parse(&a, in->path, file);
    free(bytes);
    if (!good)
        gr__safetensors_free(file);
    return good;
}

bool gr__weights_read(gr_context *ctx, const char *path, gr_safetensors *file)
{
    gr_input_file in;
    char begin[300] = "";
    *file = (gr_safetensors){0};
    if (!gr_ok(ctx) || !gr__input_open(ctx, path, &in))
        return false;
    bool good = gr__input_peek(&in, begin, sizeof begin);
    const bool zip = memcmp(begin, "PK\3\4", 4) == 0 || memcmp(begin, "PK\5\6", 4) == 0; /* the latter: it is empty */
    const char *foreign = gr__foreign_weights(begin, sizeof begin);
    if (good && foreign)
        good = gr__fail(ctx, GR_BAD_DATA, "%s: %s", path, foreign);
    if (good)
        good = (zip ? gr__npz_read_open : gr__safetensors_read_open)(&in, file);
    gr__input_close(&in);
    return good;
}
