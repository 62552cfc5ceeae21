/*
 * orientation.c - how a JPEG was held when it was taken: the tag Orientation of its Exif segment. Format: CIPA DC-008
 * (Exif 2.32), 4.5 and 4.6.4, which is TIFF within a segment APP1 in front of the picture.
 */
#include "data/decoding/file_check.h"

#include <string.h>

enum {
    SOI = 0xd8,
    APP1 = 0xe1,
    SOS = 0xda,
    IDENTIFIER = 6,
    TIFF_HEADER = 8,
    ENTRY = 12,
    ORIENTATION = 0x112,
    SHORT = 3
};

/* Numbers of a TIFF, in the order of bytes that it names. */
static uint32_t number16(const uint8_t *p, bool big)
{
    return big ? gr__be16(p) : (uint32_t)p[1] << 8 | p[0];
}

static uint32_t number32(const uint8_t *p, bool big)
{
    return big ? gr__be32(p) : number16(p + 2, false) << 16 | number16(p, false);
}

/* Of a TIFF of size bytes, its first directory. */
static int of_tiff(const uint8_t *tiff, size_t size)
{
    const bool big = size >= TIFF_HEADER && memcmp(tiff, "MM\0*", 4) == 0;
    if (!big && !(size >= TIFF_HEADER && memcmp(tiff, "II*\0", 4) == 0))
        return 1;
    const size_t at = number32(tiff + 4, big);
    if (at > size - 2)
        return 1;
    const size_t entries = number16(tiff + at, big);
    for (size_t i = 0; i < entries && (i + 1) * ENTRY <= size - at - 2; i++) {
        const uint8_t *entry = tiff + at + 2 + i * ENTRY;
        const uint32_t value = number16(entry + 8, big);
        if (number16(entry, big) == ORIENTATION)
            return number16(entry + 2, big) == SHORT && value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

int gr__jpeg_orientation(const uint8_t *bytes, size_t size)
{
    if (size < 2 || bytes[0] != 0xff || bytes[1] != SOI)
        return 1;
    for (size_t at = 2; size - at >= 4 && bytes[at] == 0xff && bytes[at + 1] != SOS;) {
        const uint8_t *segment = bytes + at + 4;
        const size_t length = gr__be16(bytes + at + 2);
        if (length < 2 || length > size - at - 2)
            return 1;
        if (bytes[at + 1] == APP1 && length >= 2 + IDENTIFIER && memcmp(segment, "Exif\0", IDENTIFIER) == 0)
            return of_tiff(segment + IDENTIFIER, length - 2 - IDENTIFIER);
        at += 2 + length;
    }
    return 1;
}
