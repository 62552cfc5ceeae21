/* fuzz_image.c - the image path: the checks of a JPEG or PNG, then stb_image. */
#include "data/decoding/file_check.h"
#include "data/decoding/image.h"
#include "fuzz.h"

#include <zlib.h>

/* Gives every chunk of a PNG its right check sum: nobody gets past those by chance. */
static void mend_png(uint8_t *bytes, size_t size)
{
    for (size_t at = 8; size >= 20 && at <= size - 12;) {
        size_t n = gr__be32(bytes + at);
        if (n > size - at - 12)
            return;
        uint32_t crc = (uint32_t)crc32(0, bytes + at + 4, (uInt)n + 4);
        for (size_t i = 0; i < 4; i++)
            bytes[at + 8 + n + i] = (uint8_t)(crc >> (24 - 8 * i));
        at += 12 + n;
    }
}

/*
 * Whether it asks for so many pixels that a second passes with nothing but filling them: limits have their own tests.
 */
static bool is_large(const uint8_t *bytes, size_t size)
{
    gr_frame frame = {0};
    size_t clean_size;
    uint8_t *clean = calloc(1, size + GR__PNG_PALETTE);
    must(clean);
    if (size > 8)
        (bytes[0] == 0x89 ? gr__check_png : gr__check_jpeg)(bytes, size, clean, &clean_size, &frame);
    free(clean);
    return frame.width > 4096 || frame.height > 4096 || frame.width * frame.height > 1 << 16;
}

static void decode(gr_jpeg_choice by, const uint8_t *bytes, size_t size)
{
    char reason[GR__REASON_SIZE] = "";
    gr_picture picture;
    gr_decoded result = gr__decode_bytes_by(by, bytes, size, &picture, reason);
    if (result == GR__DECODED) {
        must(picture.rgb && picture.height > 0 && picture.width > 0);
        uint8_t small[4 * 4 * 3];
        gr__resize_nearest(picture.rgb, (int64_t[]){picture.height, picture.width}, 3, (int64_t[]){4, 4}, small);
        gr__picture_free(&picture);
    } else {
        must(result == GR__OUT_OF_MEMORY || reason[0]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = copy_of(bytes, size);
    if (size > 0 && bytes[0] == 0x89)
        mend_png(copy, size);
    const int orientation = gr__jpeg_orientation(copy, size);
    must(orientation >= 1 && orientation <= 8);
    bool large = is_large(copy, size);
    if (!large)
        decode(GR__JPEG_STB, copy, size);
    if (!large && size > 0 && bytes[0] == 0xff)
        decode(GR__JPEG_ANY, copy, size); /* by libjpeg-turbo first, where it is built in */
    free(copy);
    return 0;
}
