/* tensor_map.h - what TMA knows of a matrix; what the driver would keep in the 128 bytes of a CUtensorMap. */
#ifndef GRADUS_PTX_TENSOR_MAP_H
#define GRADUS_PTX_TENSOR_MAP_H

#include <cstdint>

namespace ptx
{
const uint64_t TENSOR_MAP = 0x70616D5F726F736E; /* nobody else's bytes */

struct tensor_map {
    uint64_t made;                  /* TENSOR_MAP */
    uint64_t matrix, rows, columns; /* of elements of 16 bits */
    uint64_t pitch;                 /* bytes from row to row */
    uint32_t box_rows, box_columns; /* of a copy */
    uint32_t swizzle;               /* bits of the address that change: 0 to 3 */
    uint32_t unused[19];
};
static_assert(sizeof(tensor_map) == 128, "of a CUtensorMap");

/* Pieces of 16 bytes change places: bits 4 on are xored with as many from 7 on (PTX ISA, "Swizzling modes"). */
inline uint32_t swizzled(uint32_t address, uint32_t bits)
{
    return address ^ ((address >> 7 & ((1u << bits) - 1)) << 4);
}
} // namespace ptx

#endif
