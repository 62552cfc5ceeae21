/*
 * npz.c - NumPy's archive: a zip file, members stored as they are, each an .npy file: a line of Python that tells type
 * and shape, padded to a multiple of 64 bytes, then the elements.
 *
 *   zip:  (local header, name, contents) for each member; (central header, name) for each; end record
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/whole_file.h"
#include "nn/exchange/exchange.h"

enum { LOCAL_HEADER = 30, CENTRAL_HEADER = 46, END_RECORD = 22, NPY_BEGIN = 10, NPY_HEADER = 192, MEMBER_NAME = 136 };

static const uint64_t most_bytes = UINT32_MAX; /* of a zip file without extensions; 65,535 members */

typedef struct {
    char name[MEMBER_NAME];
    unsigned char header[NPY_HEADER];
    size_t header_size, data_size;
    const void *data;
    uint32_t sum, at; /* where its local header begins */
} member;

/* Writes the lowest bytes of v, the lowest first; returns the place behind them. */
static unsigned char *put(unsigned char *p, uint32_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *p++ = (unsigned char)(v >> (8 * i));
    return p;
}

static const char *type_of(gr_type type)
{
    return type == GR_F64 ? "<f8" : "<f4";
}

static void fill_header(member *m, const gr_saved_tensor *t)
{
    char shape[128] = "", line[NPY_HEADER];
    size_t used = 0;
    for (int d = 0; d < t->ndim; d++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%lld,", (long long)t->shape[d]);
    const int length = snprintf(line, sizeof line, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                                type_of(t->type), shape);
    m->header_size = (size_t)(NPY_BEGIN + length + 1 + 63) / 64 * 64;
    memset(m->header, ' ', m->header_size);
    memcpy(m->header, "\x93NUMPY\x01", 8);
    put(m->header + 8, (uint32_t)(m->header_size - NPY_BEGIN), 2);
    memcpy(m->header + NPY_BEGIN, line, (size_t)length);
    m->header[m->header_size - 1] = '\n';
}

static void fill_member(member *m, const gr_saved_tensor *t)
{
    snprintf(m->name, sizeof m->name, "%s.npy", t->name);
    m->data = t->data;
    m->data_size = gr_type_size(t->type);
    for (int d = 0; d < t->ndim; d++)
        m->data_size *= (size_t)t->shape[d];
    fill_header(m, t);
    m->sum = (uint32_t)crc32_z(crc32_z(0, m->header, m->header_size), m->data, m->data_size);
}

/* What both headers of a member share, from the version on: no flags, stored, 1980-01-01. */
static unsigned char *put_common(unsigned char *p, const member *m)
{
    const uint32_t size = (uint32_t)(m->header_size + m->data_size);
    p = put(p, 20, 2);
    p = put(p, 0, 4);
    p = put(p, 0, 2);
    p = put(p, 33, 2);
    p = put(p, m->sum, 4);
    p = put(p, size, 4);
    p = put(p, size, 4);
    return put(put(p, (uint32_t)strlen(m->name), 2), 0, 2);
}

static bool write_member(FILE *f, const member *m)
{
    unsigned char header[LOCAL_HEADER];
    put_common(put(header, 0x04034b50, 4), m);
    return fwrite(header, 1, sizeof header, f) == sizeof header && fputs(m->name, f) >= 0 &&
           fwrite(m->header, 1, m->header_size, f) == m->header_size &&
           fwrite(m->data, 1, m->data_size, f) == m->data_size;
}

static bool write_entry(FILE *f, const member *m)
{
    unsigned char header[CENTRAL_HEADER] = {0};
    put_common(put(put(header, 0x02014b50, 4), 20, 2), m);
    put(header + CENTRAL_HEADER - 4, m->at, 4);
    return fwrite(header, 1, sizeof header, f) == sizeof header && fputs(m->name, f) >= 0;
}

static bool write_end(FILE *f, int n, uint32_t at, uint32_t size)
{
    unsigned char end[END_RECORD] = {0};
    put(end, 0x06054b50, 4);
    put(put(end + 8, (uint32_t)n, 2), (uint32_t)n, 2);
    put(put(end + 12, size, 4), at, 4);
    return fwrite(end, 1, sizeof end, f) == sizeof end;
}

static bool write_all(FILE *f, const member *members, int n, uint64_t directory, uint64_t size)
{
    bool good = true;
    for (int i = 0; good && i < n; i++)
        good = write_member(f, &members[i]);
    for (int i = 0; good && i < n; i++)
        good = write_entry(f, &members[i]);
    return good && write_end(f, n, (uint32_t)directory, (uint32_t)size);
}

bool gr__npz_write(gr_context *ctx, const char *path, int n, const gr_saved_tensor *tensors)
{
    gr_whole_file w;
    member *members = gr__calloc(ctx, (size_t)n + 1, sizeof *members);
    uint64_t at = 0, directory = 0;
    for (int i = 0; members && i < n; i++) {
        fill_member(&members[i], &tensors[i]);
        members[i].at = (uint32_t)at;
        at += LOCAL_HEADER + strlen(members[i].name) + members[i].header_size + members[i].data_size;
        directory += CENTRAL_HEADER + strlen(members[i].name);
    }
    bool good = members;
    if (good && (at + directory + END_RECORD > most_bytes || n > UINT16_MAX))
        good =
            gr__fail(ctx, GR_USAGE, "%s: an .npz file holds at most 4 GB and 65,535 tensors; write safetensors", path);
    if (good && (good = gr__whole_file_open(ctx, &w, path)))
        good = gr__whole_file_close(&w, write_all(w.file, members, n, at, directory));
    free(members);
    return good;
}
