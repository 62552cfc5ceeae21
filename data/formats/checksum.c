/* checksum.c - the check sum of packed data sets, see packed.h. */
#include <endian.h>
#include <string.h>

#include "data/formats/packed.h"

enum { LANES = 4, WORD = 8, STRIDE = LANES * WORD };

const uint8_t gr__packed_magic[8] = {0x89, 'G', 'R', 'D', '\r', '\n', 0x1a, '\n'};

/*
 * The shift brings what the multiplication has gathered above back down. The multiplier is 2^64 / golden ratio, made
 * odd.
 */
static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static void take_stride(uint64_t lanes[LANES], const uint8_t *bytes)
{
    for (int i = 0; i < LANES; i++) {
        uint64_t word;
        memcpy(&word, bytes + i * WORD, WORD);
        lanes[i] = mix(lanes[i], le64toh(word));
    }
}

uint64_t gr__checksum(const uint8_t *bytes, int64_t n)
{
    uint64_t lanes[LANES] = {1, 2, 3, 4};
    int64_t whole = n / STRIDE * STRIDE;
    for (int64_t i = 0; i < whole; i += STRIDE)
        take_stride(lanes, bytes + i);
    if (n > whole) {
        uint8_t tail[STRIDE] = {0};
        memcpy(tail, bytes + whole, (size_t)(n - whole));
        take_stride(lanes, tail);
    }
    uint64_t h = (uint64_t)n;
    for (int i = 0; i < LANES; i++)
        h = mix(h, lanes[i]);
    return mix(h, 0);
}
