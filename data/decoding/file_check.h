/*
 * file_check.h - looks an image file over before a decoder gets to see it, so that what the decoder trusts in holds.
 */
#ifndef GRADUS_FILE_CHECK_H
#define GRADUS_FILE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t width, height; /* as the file's header has them; 0 where it has none */
} gr_frame;

static inline uint32_t gr__be16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t gr__be32(const uint8_t *p)
{
    return gr__be16(p) << 16 | gr__be16(p + 2);
}

static inline void gr__put_be32(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> (24 - 8 * i));
}

enum { GR__PNG_PALETTE = 3 * 256 };

/*
 * A PNG's chunks are whole, known and have the right check sums. Copies those that shape the pixels to clean (room for
 * size + GR__PNG_PALETTE bytes), the palette filled up with black. NULL: nothing against it; else what is wrong.
 */
const char *gr__check_png(const uint8_t *bytes, size_t size, uint8_t *clean, size_t *clean_size, gr_frame *frame);

/*
 * Goes through a JPEG from marker to marker and copies what belongs to it to clean (room for size bytes): without fill
 * bytes, without anything between segments or behind the end. NULL: nothing against it; else what is wrong.
 */
const char *gr__check_jpeg(const uint8_t *bytes, size_t size, uint8_t *clean, size_t *clean_size, gr_frame *frame);

/* How a JPEG lies by its Exif tag, from 1 to 8; 1 is upright: so it says, or nothing, or something damaged. */
int gr__jpeg_orientation(const uint8_t *bytes, size_t size);

#endif
