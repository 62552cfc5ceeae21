/*
 * packed.h - the format of packed data sets (.grd), version 1. All numbers are little-endian, whatever the machine.
 *
 *   0    8 bytes   89 47 52 44 0d 0a 1a 0a: not text, and damaged by whatever takes it for text
 *   8    u32       version, 1
 *   12   u32       bytes of the class table
 *   16   u64       n, images
 *   24   u32 x 4   height, width, channels, classes
 *   40   u64       bytes of the file
 *   48   64 chars  SHA-256 of the manifest of the files it was made of, or zeros
 *   112  u64       check sum of both tables
 *   120  u64       check sum of bytes 0 to 119
 *   128            class table, for each: u64 files it had, u32 length of its name, the name; zeros to a multiple of 8
 *                  image table, for each: u32 label, u32 0, u64 which file of its class, u64 check sum of its pixels
 *                  zeros to a multiple of 4096
 *                  pixels, u8 [n, height, width, channels], to the end of the file
 *
 * Images stand in order of label, then of file. The check sum is gr__checksum.
 */
#ifndef GRADUS_PACKED_H
#define GRADUS_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GR__PACKED_VERSION = 1,
    GR__PACKED_VERSION_AT = 8,
    GR__PACKED_CLASS_BYTES_AT = 12,
    GR__PACKED_N_AT = 16,
    GR__PACKED_SHAPE_AT = 24,
    GR__PACKED_FILE_BYTES_AT = 40,
    GR__PACKED_MANIFEST_AT = 48,
    GR__PACKED_MANIFEST_SIZE = 64,
    GR__PACKED_TABLES_SUM_AT = 112,
    GR__PACKED_HEADER_SUM_AT = 120,
    GR__PACKED_HEADER = 128,
    GR__PACKED_CLASS = 12, /* bytes of a class before its name */
    GR__PACKED_IMAGE = 24, /* bytes of an image in its table */
    GR__PACKED_ALIGN = 4096,
    GR__PACKED_NAME = 255 /* bytes of a class's name, at most */
};

extern const uint8_t gr__packed_magic[8];

/*
 * 64 bits over n bytes. Made to be as fast as memory: four lanes of 8-byte words, each step a bijection of lane and
 * word, so that no single changed word goes unseen. Against damage, not against malice.
 */
uint64_t gr__checksum(const uint8_t *bytes, int64_t n);

bool gr__packed_name(const char *name, size_t length); /* whether a class may be called so */

/* size rounded up to a multiple of to. */
static inline int64_t gr__round_up(int64_t size, int64_t to)
{
    return (size + to - 1) / to * to;
}

static inline void gr__put_le(uint8_t *p, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t gr__get_le(const uint8_t *p, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | p[i];
    return value;
}

#endif
