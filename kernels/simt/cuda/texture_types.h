/*
 * texture_types.h - arrays, texture objects and surface objects, as the runtime has them: their descriptions, and what
 * the functions of textures.h call.
 */
#ifndef GRADUS_CUDA_TEXTURE_TYPES_H
#define GRADUS_CUDA_TEXTURE_TYPES_H

#include "kernels/simt/cuda/cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned,
    cudaChannelFormatKindUnsigned,
    cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone
};
typedef struct cudaChannelFormatDesc {
    int x, y, z, w; /* bits of each channel, 0: there is none */
    enum cudaChannelFormatKind f;
} cudaChannelFormatDesc;

#define cudaArrayDefault 0
#define cudaArrayLayered 1
#define cudaArraySurfaceLoadStore 2
typedef const struct cudaArray *cudaArray_const_t;

enum cudaResourceType { cudaResourceTypeArray = 0, cudaResourceTypeLinear = 2, cudaResourceTypePitch2D = 3 };
typedef struct cudaResourceDesc {
    enum cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes; /* width and height in texels */
        } pitch2D;
    } res;
} cudaResourceDesc;

enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
typedef struct cudaTextureDesc {
    enum cudaTextureAddressMode addressMode[3];
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
} cudaTextureDesc;
struct cudaResourceViewDesc; /* there are none */

typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

/* --- for textures.h ----------------------------------------------------------------------------------------------- */

/* runtime/array.c */
cudaError_t gr__cuda_array_make(cudaArray_t *array, const cudaChannelFormatDesc *format, cudaExtent size,
                                unsigned flags, const char *file, int line);
cudaError_t gr__cuda_array_free(cudaArray_t array, const char *file, int line);
cudaError_t gr__cuda_array_info(cudaChannelFormatDesc *format, cudaExtent *size, unsigned *flags,
                                cudaArray_const_t array);
/* A rectangle of rows to an array or from it, x and width in bytes. */
cudaError_t gr__cuda_array_rows(cudaArray_const_t array, bool to, size_t x, size_t y, const void *other, size_t pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream, bool wait,
                                const char *file, int line);
/* So many bytes, row after row. */
cudaError_t gr__cuda_array_bytes(cudaArray_const_t array, bool to, size_t x, size_t y, const void *other, size_t bytes,
                                 enum cudaMemcpyKind kind, const char *file, int line);

/* runtime/texture.c */
cudaError_t gr__cuda_texture_make(cudaTextureObject_t *t, const cudaResourceDesc *what, const cudaTextureDesc *how,
                                  const struct cudaResourceViewDesc *view, const char *file, int line);
cudaError_t gr__cuda_surface_make(cudaSurfaceObject_t *s, const cudaResourceDesc *what, const char *file, int line);
cudaError_t gr__cuda_object_destroy(unsigned long long object, bool surface, const char *file, int line);

/* runtime/texture_fetch.c: what a texel holds, each channel as float or as an integer of 32 bits. */
typedef union {
    float f[4];
    int i[4];
} gr__cuda_texel;
typedef enum {
    GR__TEX_FETCH, /* tex1Dfetch: layer is the texel's number */
    GR__TEX_1D,
    GR__TEX_2D,
    GR__TEX_3D,
    GR__TEX_1D_LAYERED,
    GR__TEX_2D_LAYERED,
} gr__cuda_fetch_kind;
gr__cuda_texel gr__cuda_fetch(gr__cuda_fetch_kind kind, cudaTextureObject_t t, const float at[3], int layer,
                              bool floats, const char *file, int line);

/* runtime/surface.c: dimensions 1 to 3, x in bytes. */
void gr__cuda_surface(int dimensions, cudaSurfaceObject_t s, const int at[3], void *value, size_t bytes, bool write,
                      enum cudaSurfaceBoundaryMode mode, const char *file, int line);

#ifdef __cplusplus
}
#endif

#endif
