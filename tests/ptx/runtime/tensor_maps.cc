/* tensor_maps.cc - the one function of the driver that Gradus asks for: it tells TMA of a matrix. */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "tests/ptx/interpreter/tensor_map.h"

using namespace ptx;

/* Of two-dimensional ones of 16-bit elements, within the limits that the driver's manual tells. */
static CUresult encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *matrix,
                       const cuuint64_t *size, const cuuint64_t *pitch, const cuuint32_t *box, const cuuint32_t *each,
                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                       CUtensorMapFloatOOBfill fill)
{
    static const uint32_t bits[] = {0, 1, 2, 3}; /* NONE, 32B, 64B, 128B */
    const bool known = type == CU_TENSOR_MAP_DATA_TYPE_UINT16 && rank == 2 && each[0] == 1 && each[1] == 1 &&
                       interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE &&
                       swizzle <= CU_TENSOR_MAP_SWIZZLE_128B;
    if (!known || (uintptr_t)matrix % 16 || pitch[0] % 16 || pitch[0] < 2 * size[0] || !size[0] || !size[1] ||
        !box[0] || !box[1] || box[0] > 256 || box[1] > 256 || box[0] * 2 % 16)
        return CUDA_ERROR_INVALID_VALUE;
    if (bits[swizzle] && box[0] * 2 > 16u << bits[swizzle])
        return CUDA_ERROR_INVALID_VALUE;
    const tensor_map made = {TENSOR_MAP, (uint64_t)matrix, size[1],       size[0], pitch[0],
                             box[1],     box[0],           bits[swizzle], {}};
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
