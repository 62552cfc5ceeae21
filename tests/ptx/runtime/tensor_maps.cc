/* tensor_maps.cc - the one function of the driver that Gradus asks for: it tells TMA of a tensor. */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "tests/ptx/interpreter/tensor_map.h"

using namespace ptx;

/* The limits of one dimension that the driver's manual tells. */
static bool fits(const tensor_map &m, unsigned i)
{
    const uint64_t within = i ? m.pitch[i - 1] * m.size[i - 1] : 2; /* what one element takes at least */
    return m.size[i] >= 1 && m.size[i] <= UINT64_C(1) << 32 && m.box[i] >= 1 && m.box[i] <= 256 && m.every[i] >= 1 &&
           m.every[i] <= 8 && m.pitch[i] >= within && (!i || (m.pitch[i] % 16 == 0 && m.pitch[i] < UINT64_C(1) << 40));
}

/* Of two or four dimensions of 16-bit elements, the innermost first and each of it. */
static CUresult encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *tensor,
                       const cuuint64_t *size, const cuuint64_t *pitch, const cuuint32_t *box, const cuuint32_t *every,
                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                       CUtensorMapFloatOOBfill fill)
{
    const bool known = type == CU_TENSOR_MAP_DATA_TYPE_UINT16 && (rank == 2 || rank == 4) && every[0] == 1 &&
                       interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE &&
                       swizzle <= CU_TENSOR_MAP_SWIZZLE_128B;
    if (!known || (uintptr_t)tensor % 16 || box[0] * 2 % 16)
        return CUDA_ERROR_INVALID_VALUE;
    const uint32_t bits = (uint32_t)swizzle; /* NONE, 32B, 64B, 128B: 0 to 3 */
    if (bits && box[0] * 2 > 16u << bits)
        return CUDA_ERROR_INVALID_VALUE;
    tensor_map made = {TENSOR_MAP, (uint64_t)tensor, {1, 1, 1, 1}, {2}, {1, 1, 1, 1}, {1, 1, 1, 1}, rank, bits, {}};
    for (unsigned i = 0; i < rank; i++) {
        made.size[i] = size[i];
        made.pitch[i] = i ? pitch[i - 1] : 2;
        made.box[i] = box[i];
        made.every[i] = every[i];
        if (!fits(made, i))
            return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(map, &made, sizeof made);
    return CUDA_SUCCESS;
}

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **found, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult *how)
{
    const bool known = !strcmp(name, "cuTensorMapEncodeTiled");
    *found = known ? (void *)encode : nullptr;
    *how = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}
}
