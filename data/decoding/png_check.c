/*
 * png_check.c - the chunks of a PNG. Format: Portable Network Graphics (third edition), sections 5 and 11.
 *
 * stb_image looks up pixels in a palette of 256 colours, of which it has set only those that the file has: of the
 * others it takes what its stack holds. In a copy of the file the palette is whole, and black where the file has
 * nothing.
 */
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "data/decoding/file_check.h"

enum {
    SIGNATURE = 8,
    PALETTE = GR__PNG_PALETTE,
    FRAME = 12 /* bytes of a chunk beside its data: length, type, CRC-32 of type and data */
};

/* A chunk that a decoder must know and does, or one that it may pass over (a lower-case first letter). */
static bool is_known(const uint8_t type[4])
{
    static const char critical[][5] = {"IHDR", "PLTE", "IDAT", "IEND"};
    for (int i = 0; i < 4; i++)
        if (memcmp(type, critical[i], 4) == 0)
            return true;
    return type[0] >= 'a' && type[0] <= 'z';
}

/* Appends a chunk that shapes the pixels to the copy, a palette filled up; others are left out. */
static void copy_chunk(const uint8_t *chunk, size_t length, uint8_t *clean, size_t *n)
{
    static const char kept[][5] = {"IHDR", "PLTE", "tRNS", "IDAT", "IEND"};
    bool keep = false, short_palette = memcmp(chunk + 4, "PLTE", 4) == 0 && length % 3 == 0 && length < PALETTE;
    for (int i = 0; i < 5; i++)
        keep |= memcmp(chunk + 4, kept[i], 4) == 0;
    if (!keep)
        return;
    memcpy(clean + *n, chunk, FRAME + length);
    if (short_palette) {
        memset(clean + *n + 8 + length, 0, PALETTE - length + 4); /* its check sum, which nobody looks at again, is 0 */
        gr__put_be32(clean + *n, PALETTE);
        length = PALETTE;
    }
    *n += FRAME + length;
}

const char *gr__check_png(const uint8_t *bytes, size_t size, uint8_t *clean, size_t *clean_size, gr_frame *frame)
{
    bool palette = false;
    *frame = (gr_frame){0};
    memcpy(clean, bytes, SIGNATURE);
    *clean_size = SIGNATURE;
    for (size_t at = SIGNATURE; size - at >= FRAME;) {
        const uint8_t *chunk = bytes + at, *type = chunk + 4, *data = chunk + 8;
        size_t length = gr__be32(chunk);
        if (length > size - at - FRAME)
            return "a PNG cut short";
        if (!is_known(type))
            return "a PNG with an unknown critical chunk";
        if (crc32(0, type, (uInt)length + 4) != gr__be32(data + length))
            return "a damaged PNG (a check sum is wrong)";
        if (at == SIGNATURE && (memcmp(type, "IHDR", 4) != 0 || length != 13))
            return "a PNG that does not begin with its header";
        if (at == SIGNATURE)
            *frame = (gr_frame){.width = gr__be32(data), .height = gr__be32(data + 4)};
        if (memcmp(type, "PLTE", 4) == 0 && palette)
            return "a PNG with two palettes";
        palette |= memcmp(type, "PLTE", 4) == 0;
        copy_chunk(chunk, length, clean, clean_size);
        if (memcmp(type, "IEND", 4) == 0)
            return NULL;
        at += FRAME + length;
    }
    return "a PNG cut short";
}
