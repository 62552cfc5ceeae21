/* formats.h - halves, bf16 and tf32 as bits. All roundings are to the nearest, ties to even, of tf32 away from 0. */
#ifndef GRADUS_PTX_FORMATS_H
#define GRADUS_PTX_FORMATS_H

#include <cstdint>

namespace ptx
{
float f16_value(uint16_t bits);
uint16_t f16_of(float v); /* NaN: 0x7FFF */
float bf16_value(uint16_t bits);
uint16_t bf16_of(float v);
uint32_t tf32_of(float v); /* as a float's bits, the last 13 of which are 0 */
} // namespace ptx

#endif
