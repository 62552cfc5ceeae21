/* checksum.h - CRC-32 as zlib and gzip have it, so that any language can check a line. */
#ifndef GRADUS_CHECKSUM_H
#define GRADUS_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Of bytes that follow those which crc is of; 0: they are the first. */
uint32_t checksum_add(uint32_t crc, const void *bytes, size_t n);

#endif
