/* tensor_map.h - what TMA knows of a tensor; what the driver would keep in the 128 bytes of a CUtensorMap. */
#ifndef GRADUS_PTX_TENSOR_MAP_H
#define GRADUS_PTX_TENSOR_MAP_H

#include <cstdint>

namespace ptx
{
const uint64_t TENSOR_MAP = 0x70616D5F726F736E; /* nobody else's bytes */

/* Dimensions from the innermost one on; those behind the last have the size 1. */
struct tensor_map {
    uint64_t made;             /* TENSOR_MAP */
    uint64_t tensor, size[4];  /* of elements of 16 bits */
    uint64_t pitch[4];         /* bytes from one to the next */
    uint32_t box[4], every[4]; /* how far a copy reaches; one of every so many is brought */
    uint32_t rank;             /* 2 or 4 */
    uint32_t swizzle;          /* bits of the address that change: 0 to 3 */
    uint32_t unused[2];
};
static_assert(sizeof(tensor_map) == 128, "of a CUtensorMap");

/* Pieces of 16 bytes change places: bits 4 on are xored with as many from 7 on (PTX ISA, "Swizzling modes"). */
inline uint32_t swizzled(uint32_t address, uint32_t bits)
{
    return address ^ ((address >> 7 & ((1u << bits) - 1)) << 4);
}
} // namespace ptx

#endif
