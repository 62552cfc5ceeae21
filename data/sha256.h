/* sha256.h - SHA-256 (FIPS 180-4), so that a manifest's hash is the one that sha256sum prints of it. */
#ifndef GRADUS_SHA256_H
#define GRADUS_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { GR__SHA256_TEXT = 65 };

typedef struct {
    uint32_t state[8];
    uint64_t bytes; /* so far */
    uint8_t block[64];
} gr_sha256;

void gr__sha256_begin(gr_sha256 *sha);
void gr__sha256_add(gr_sha256 *sha, const void *bytes, size_t n);
void gr__sha256_end(gr_sha256 *sha, char text[GR__SHA256_TEXT]); /* 64 hex digits */

#endif
