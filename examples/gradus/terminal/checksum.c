/* checksum.c - see checksum.h. */
#include "terminal/checksum.h"

uint32_t checksum_add(uint32_t crc, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0); /* the polynomial, its bits reversed */
    }
    return ~crc;
}
