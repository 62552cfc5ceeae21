/* textures.h - what the files of arrays, texture objects and surfaces share. */
#ifndef GRADUS_SIMT_RUNTIME_TEXTURES_H
#define GRADUS_SIMT_RUNTIME_TEXTURES_H

#include "kernels/simt/cuda/texture_types.h"
#include "kernels/simt/runtime/runtime.h"

/* Texels in memory, row by row and slice by slice. */
typedef struct {
    char *at;
    cudaChannelFormatDesc format;
    int channels, bytes; /* of a texel */
    int size[3];         /* in texels; a layer is a slice, and of linear memory all lie in x */
    size_t pitch;
    unsigned flags;
    enum cudaResourceType type;
} gr__cuda_texels;

struct cudaArray {
    struct cudaArray *next;
    gr__cuda_texels texels;
};

/* A texture object, or a surface object: how is not of interest. */
typedef struct {
    gr__cuda_texels texels;
    const gr__cuda_block *block; /* in which they lie */
    cudaTextureDesc how;
    bool surface;
    const char *gone_file; /* NULL: it was not destroyed */
    int gone_line;
} gr__cuda_object;

/* array.c: NULL where there is no such array (any more), which is told. Channels and bytes of a format; false: none. */
const gr__cuda_texels *gr__cuda_array_texels(cudaArray_const_t array, const char *call, const char *file,
                                             int line) GR__HIDDEN;
bool gr__cuda_format(gr__cuda_texels *t, const cudaChannelFormatDesc *format) GR__HIDDEN;

/* texture.c: for a kernel's thread. Call: what it calls, for reports. */
const gr__cuda_object *gr__cuda_object_at(unsigned long long object, bool surface, const char *call, const char *file,
                                          int line) GR__HIDDEN;

#endif
