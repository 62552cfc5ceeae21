/*
 * image.h - one picture: from the bytes of a file to RGB pixels, and to another size. Safe to call from any thread.
 */
#ifndef GRADUS_IMAGE_H
#define GRADUS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"

enum { GR__REASON_SIZE = 160, GR__MAX_FILE = 64 << 20 /* bytes */ };

typedef struct {
    int64_t height, width;
    uint8_t *rgb; /* [height, width, 3] */
} gr_picture;

typedef enum {
    GR__DECODED,
    GR__UNDECODABLE, /* the file's own fault: a set can leave it out, and does so wherever it is read */
    GR__UNREADABLE, /* the system's: read again, the file may be sound, so that leaving it out would make another set */
    GR__OUT_OF_MEMORY
} gr_decoded;

/* Whether GRADUS_JPEG in the environment, if it is there, names a decoder of this build. False: recorded. */
bool gr__jpeg_decoder_is_known(gr_context *ctx);

/* The code of an error that comes of anything but GR__DECODED. */
gr_code gr__decoded_code(gr_decoded result);

/* The bytes of a regular file of at most 64 MiB, to be freed. Anything but GR__DECODED leaves nothing to free. */
gr_decoded gr__read_file(const char *path, uint8_t **bytes, size_t *size, char reason[GR__REASON_SIZE]);

/*
 * Decodes a JPEG or PNG. Grey becomes R = G = B and alpha is dropped, as PIL's convert("RGB") does. Anything but
 * GR__DECODED leaves nothing to free; GR__UNDECODABLE and GR__UNREADABLE have said why in reason.
 */
gr_decoded gr__decode_bytes(const uint8_t *bytes, size_t size, gr_picture *picture, char reason[GR__REASON_SIZE]);

/* The same with JPEGs by one decoder alone, to tell how far they differ. */
typedef enum { GR__JPEG_ANY, GR__JPEG_STB, GR__JPEG_TURBO } gr_jpeg_choice;
gr_decoded gr__decode_bytes_by(gr_jpeg_choice choice, const uint8_t *bytes, size_t size, gr_picture *picture,
                               char reason[GR__REASON_SIZE]);
void gr__picture_free(gr_picture *picture);

/*
 * Nearest neighbour, pixel for pixel as PIL's Image.resize((to[1], to[0]), NEAREST): in[from[0], from[1], channels] to
 * out[to[0], to[1], channels].
 */
void gr__resize_nearest(const uint8_t *in, const int64_t from[2], int64_t channels, const int64_t to[2], uint8_t *out);

#endif
