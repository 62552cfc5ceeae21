/* test_zip_files.h - zip archives for the tests, whole, or with a lie in any of their fields. */
#ifndef TEST_ZIP_FILES_H
#define TEST_ZIP_FILES_H

#include "test_data_files.h"

enum {
    ZIP_STORE = 1,
    ZIP_LINK,
    ZIP_DEVICE,
    ZIP_ENCRYPTED,
    ZIP_METHOD,
    ZIP_OTHER_NAME,
    ZIP_OTHER_METHOD,
    ZIP_FAR,
    ZIP_LONG,
    ZIP_SIZE,
    ZIP_CRC,
    ZIP_NO_HEADER,
    ZIP_EXTRA,
    ZIP_TWO_SIZES,
    ZIP_SHORT,
    ZIP_64,
    ZIP_64_SHORT
};

typedef struct {
    test_file f, directory;
    int n;
} zip_file;

static inline void add_le(test_file *f, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        add_bytes(f, &(unsigned char){(unsigned char)(v >> 8 * i)}, 1);
}

/* Sizes, method and name as both kinds of headers have them from "flags" on. */
static inline void zip_fields(test_file *f, int flags, int method, uint32_t crc, uint64_t packed, uint64_t size,
                              size_t name)
{
    add_le(f, (uint64_t)flags, 2);
    add_le(f, (uint64_t)method, 2);
    add_le(f, 0, 4); /* time and date */
    add_le(f, crc, 4);
    add_le(f, packed, 4);
    add_le(f, size, 4);
    add_le(f, name, 2);
}

/* Adds an entry to the directory for a member whose local header lies at; lie: 0 or one of the above. */
static inline void zip_entry(zip_file *z, const char *name, int lie, int method, uint32_t crc, uint64_t packed,
                             uint64_t size, uint64_t at)
{
    test_file *d = &z->directory;
    uint32_t mode = lie == ZIP_LINK ? S_IFLNK | 0777 : lie == ZIP_DEVICE ? S_IFCHR | 0600 : S_IFREG | 0644;
    bool zip64 = lie == ZIP_64 || lie == ZIP_64_SHORT;
    add_bytes(d, "PK\1\2", 4);
    add_le(d, 3 << 8 | 20, 2); /* made by Unix */
    add_le(d, 20, 2);
    zip_fields(d, lie == ZIP_ENCRYPTED, lie == ZIP_METHOD ? 12 : method, crc ^ (lie == ZIP_CRC),
               zip64              ? 0xffffffff
               : lie == ZIP_SHORT ? packed - 1
               : lie == ZIP_LONG  ? 50000
                                  : packed,
               zip64                  ? 0xffffffff
               : lie == ZIP_SIZE      ? 2000000000
               : lie == ZIP_TWO_SIZES ? size + 1
                                      : size,
               strlen(name));
    add_le(d, lie == ZIP_64_SHORT ? 12 : zip64 ? 20 : lie == ZIP_EXTRA ? 4 : 0, 2);
    add_le(d, 0, 2 + 2 + 2); /* comment, disk, internal attributes */
    add_le(d, (uint64_t)mode << 16, 4);
    add_le(d, lie == ZIP_FAR ? 60000 : lie == ZIP_NO_HEADER ? at + 1 : at, 4);
    add_bytes(d, name, strlen(name));
    if (lie == ZIP_EXTRA)
        add_bytes(d, "\1\0\xff\0", 4); /* longer than the field */
    if (zip64) {
        add_bytes(d, lie == ZIP_64 ? "\1\0\20\0" : "\1\0\10\0", 4);
        add_le(d, size, 8);
        if (lie == ZIP_64)
            add_le(d, packed, 8);
    }
    z->n++;
}

static inline void zip_add(zip_file *z, const char *name, const void *data, size_t size, int lie)
{
    static unsigned char packed[1 << 16];
    z_stream s = {
        .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size, .next_out = packed, .avail_out = sizeof packed};
    if (deflateInit2(&s, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK || deflate(&s, Z_FINISH) != Z_STREAM_END)
        abort();
    bool store = lie == ZIP_STORE || lie == ZIP_TWO_SIZES;
    size_t n = store ? size : s.total_out;
    int method = store ? 0 : 8;
    uint32_t crc = (uint32_t)crc32(0, data, (uInt)size);
    uint64_t at = z->f.size;
    deflateEnd(&s);
    add_bytes(&z->f, "PK\3\4\24\0", 6);
    zip_fields(&z->f, 0, lie == ZIP_OTHER_METHOD ? 0 : method, crc, n, size, strlen(name));
    add_le(&z->f, 0, 2);
    size_t text = z->f.size;
    add_bytes(&z->f, name, strlen(name));
    if (lie == ZIP_OTHER_NAME)
        z->f.bytes[text] ^= 1;
    add_bytes(&z->f, store ? data : packed, n);
    zip_entry(z, name, lie, method, crc, n, size, at);
}

/* The directory and the end record, whose fields are the true ones plus what is given. */
static inline void zip_end(zip_file *z, int more_files, int more_bytes, int more_offset, int volume)
{
    size_t at = z->f.size;
    add_bytes(&z->f, z->directory.bytes, z->directory.size);
    add_bytes(&z->f, "PK\5\6", 4);
    add_le(&z->f, (uint64_t)volume, 2);
    add_le(&z->f, 0, 2);
    add_le(&z->f, (uint64_t)(z->n + more_files), 2);
    add_le(&z->f, (uint64_t)(z->n + more_files), 2);
    add_le(&z->f, z->directory.size + (size_t)more_bytes, 4);
    add_le(&z->f, at + (size_t)more_offset, 4);
    add_le(&z->f, 0, 2);
}

/* The same with zip64's end record; locator_off is added to where its locator says that it lies. */
static inline void zip_end64(zip_file *z, int locator_off)
{
    size_t at = z->f.size;
    add_bytes(&z->f, z->directory.bytes, z->directory.size);
    size_t end = z->f.size;
    add_bytes(&z->f, "PK\6\6", 4);
    add_le(&z->f, 44, 8);
    add_le(&z->f, 45 | 45 << 16, 4);
    add_le(&z->f, 0, 8);
    add_le(&z->f, (uint64_t)z->n, 8);
    add_le(&z->f, (uint64_t)z->n, 8);
    add_le(&z->f, z->directory.size, 8);
    add_le(&z->f, at, 8);
    add_bytes(&z->f, "PK\6\7", 4);
    add_le(&z->f, 0, 4);
    add_le(&z->f, end + (size_t)locator_off, 8);
    add_le(&z->f, 1, 4);
    add_bytes(&z->f, "PK\5\6\0\0\0\0", 8);
    add_le(&z->f, 0xffffffffffffffff, 8);
    add_le(&z->f, 0xffffffff, 4);
    add_le(&z->f, 0, 2);
}

#endif
