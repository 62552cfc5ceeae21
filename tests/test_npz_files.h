/* test_npz_files.h - NumPy's archives made byte by byte, for the tests of what is read and refused. */
#ifndef TEST_NPZ_FILES_H
#define TEST_NPZ_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "gradus.h"
#include "nn/exchange/exchange.h"

enum { ROOM = 1 << 16, LOCAL = 30, ENTRY = 46, END = 22, METHOD = 8, SUM = 14, PACKED = 18, SIZE = 22 };

static char folder[] = "/tmp/gradus-npz-XXXXXX";
static char path[256];

static inline int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/file.npz", folder);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

typedef struct {
    const char *name;
    unsigned char bytes[512];
    size_t n;
    bool deflated;
} npy;

/* An archive of at most two members, and where their parts lie in it. */
typedef struct {
    unsigned char bytes[ROOM];
    size_t size, local[2], entry[2], directory, end;
} zip;

static inline void put(unsigned char *p, uint32_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (unsigned char)(v >> (8 * i));
}

/* An .npy file of version 1.0 with this header and so many bytes 0, 1, 2, ... of data. */
static inline npy array(const char *name, const char *header, size_t data)
{
    npy a = {.name = name, .bytes = "\x93NUMPY\x01"};
    const size_t length = strlen(header);
    put(a.bytes + 8, (uint32_t)length, 2);
    memcpy(a.bytes + 10, header, length);
    for (size_t i = 0; i < data; i++)
        a.bytes[10 + length + i] = (unsigned char)i;
    a.n = 10 + length + data;
    return a;
}

/* The line of an .npy file. */
#define HEADER(type, order, shape) "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }\n"

static inline size_t pack(const npy *a, unsigned char *to)
{
    z_stream z = {.next_in = (Bytef *)a->bytes, .avail_in = (uInt)a->n, .next_out = to, .avail_out = ROOM / 4};
    if (!a->deflated) {
        memcpy(to, a->bytes, a->n);
        return a->n;
    }
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

/* What both headers have from the flags on; p: where the local header's signature would be. */
static inline void put_common(unsigned char *p, const npy *a, size_t packed)
{
    put(p + METHOD, a->deflated ? 8 : 0, 2);
    put(p + SUM, (uint32_t)crc32(0, a->bytes, (uInt)a->n), 4);
    put(p + PACKED, (uint32_t)packed, 4);
    put(p + SIZE, (uint32_t)a->n, 4);
    put(p + 26, (uint32_t)strlen(a->name), 2);
}

static inline zip archive_of(int n, const npy *arrays)
{
    zip z = {.size = 0};
    size_t packed[2];
    for (int i = 0; i < n; i++) {
        unsigned char *p = z.bytes + (z.local[i] = z.size);
        const size_t length = strlen(arrays[i].name);
        memcpy(p, "PK\3\4", 4);
        memcpy(p + LOCAL, arrays[i].name, length);
        packed[i] = pack(&arrays[i], p + LOCAL + length);
        put_common(p, &arrays[i], packed[i]);
        z.size += LOCAL + length + packed[i];
    }
    z.directory = z.size;
    for (int i = 0; i < n; i++) {
        unsigned char *p = z.bytes + (z.entry[i] = z.size);
        put_common(p + 2, &arrays[i], packed[i]); /* two bytes more in front of it: the version that made it */
        memcpy(p, "PK\1\2", 4);
        put(p + 42, (uint32_t)z.local[i], 4);
        memcpy(p + ENTRY, arrays[i].name, strlen(arrays[i].name));
        z.size += ENTRY + strlen(arrays[i].name);
    }
    z.end = z.size;
    unsigned char *p = z.bytes + z.end;
    memcpy(p, "PK\5\6", 4);
    put(p + 8, (uint32_t)n, 2);
    put(p + 10, (uint32_t)n, 2);
    put(p + 12, (uint32_t)(z.end - z.directory), 4);
    put(p + 16, (uint32_t)z.directory, 4);
    z.size += END;
    return z;
}

static inline void write_zip(const zip *z)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(z->bytes, 1, z->size, f), z->size);
    fclose(f);
}

/* The file must be refused as bad data, and the message must name the file, the array and the rule. */
static inline void refused(const zip *z, const char *array_name, const char *rule)
{
    gr_context *ctx = gr_open(NULL);
    gr_safetensors file;
    write_zip(z);
    assert_false(gr__weights_read(ctx, path, &file));
    if (gr_error_code(ctx) != GR_BAD_DATA || !strstr(gr_error_text(ctx), path) || !strstr(gr_error_text(ctx), rule) ||
        !strstr(gr_error_text(ctx), array_name))
        fail_msg("expected \"%s\", \"%s\" in: %s", array_name, rule, gr_error_text(ctx));
    assert_null(file.bytes);
    gr_close(ctx);
}

static inline void read_good(gr_context *ctx, int n, const npy *arrays, gr_safetensors *file)
{
    const zip z = archive_of(n, arrays);
    write_zip(&z);
    if (!gr__weights_read(ctx, path, file))
        fail_msg("%s", gr_error_text(ctx));
    assert_int_equal(file->n, n);
}

#endif
