/* png_check.c - the chunks of a PNG. Format: Portable Network Graphics (third edition), sections 5 and 11. */
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "data/file_check.h"

enum { SIGNATURE = 8, FRAME = 12 /* bytes of a chunk beside its data: length, type, CRC-32 of type and data */ };

/* A chunk that a decoder must know and does, or one that it may pass over (a lower-case first letter). */
static bool is_known(const uint8_t type[4])
{
    static const char critical[][5] = {"IHDR", "PLTE", "IDAT", "IEND"};
    for (int i = 0; i < 4; i++)
        if (memcmp(type, critical[i], 4) == 0)
            return true;
    return type[0] >= 'a' && type[0] <= 'z';
}

const char *gr__check_png(const uint8_t *bytes, size_t size, gr_frame *frame)
{
    *frame = (gr_frame){0};
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
        if (memcmp(type, "IEND", 4) == 0)
            return NULL;
        at += FRAME + length;
    }
    return "a PNG cut short";
}
