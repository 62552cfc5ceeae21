/* array.c - CUDA's arrays, from which textures and surfaces are made, and copies to and from them. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/simt/runtime/textures.h"

static struct cudaArray *arrays;

bool gr__cuda_format(gr__cuda_texels *t, const cudaChannelFormatDesc *format)
{
    const int bits[4] = {format->x, format->y, format->z, format->w};
    t->format = *format;
    t->channels = 0;
    while (t->channels < 4 && bits[t->channels] == bits[0])
        t->channels++;
    for (int i = t->channels; i < 4; i++)
        if (bits[i])
            return false;
    t->bytes = t->channels * bits[0] / 8;
    const bool wide = bits[0] == 16 || bits[0] == 32;
    return t->channels != 3 && (wide || (bits[0] == 8 && format->f != cudaChannelFormatKindFloat)) &&
           (unsigned)format->f <= cudaChannelFormatKindFloat;
}

static int at_least_one(size_t n)
{
    return n > INT_MAX ? INT_MAX : n ? (int)n : 1;
}

cudaError_t gr__cuda_array_make(cudaArray_t *array, const cudaChannelFormatDesc *format, cudaExtent size,
                                unsigned flags, const char *file, int line)
{
    struct cudaArray *a = calloc(1, sizeof *a);
    *array = NULL;
    if (!a)
        return gr__cuda_fails(cudaErrorMemoryAllocation, file, line);
    gr__cuda_texels *t = &a->texels;
    const bool good = gr__cuda_format(t, format);
    if (!good || !size.width || (flags & ~(unsigned)(cudaArrayLayered | cudaArraySurfaceLoadStore))) {
        free(a);
        gr__cuda_find(file, line,
                      good ? "array: of no width, or with flags that the emulator has not"
                           : "array: a texel has 1, 2 or 4 channels of 8, 16 or 32 bits each, by "
                             "cudaCreateChannelDesc<float>() or such");
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    }
    t->size[0] = at_least_one(size.width), t->size[1] = at_least_one(size.height),
    t->size[2] = at_least_one(size.depth);
    t->pitch = size.width * (size_t)t->bytes;
    t->flags = flags, t->type = cudaResourceTypeArray;
    const cudaError_t error = gr__cuda_alloc((void **)&t->at, t->pitch * (size_t)t->size[1] * (size_t)t->size[2],
                                             cudaMemoryTypeDevice, file, line);
    if (error) {
        free(a);
        return error;
    }
    gr__cuda_block *b = gr__cuda_find_block(t->at);
    snprintf(b->name, sizeof b->name, "the array of the %s at %.180s:%d",
             size.depth ? "cudaMalloc3DArray" : "cudaMallocArray", file, line);
    b->freer = "cudaFreeArray";
    a->next = arrays;
    *array = arrays = a;
    return cudaSuccess;
}

/* It stays in the list, for who asks for it later. */
cudaError_t gr__cuda_array_free(cudaArray_t array, const char *file, int line)
{
    for (const struct cudaArray *a = arrays; a; a = a->next)
        if (a == array)
            return gr__cuda_free(a->texels.at, file, line);
    if (!array)
        return cudaSuccess;
    gr__cuda_find(file, line, "wrong pointer: cudaFreeArray of what no cudaMallocArray gave");
    return gr__cuda_fails(cudaErrorInvalidValue, file, line);
}

bool gr__cuda_is_array(const void *p)
{
    const struct cudaArray *a = arrays;
    while (a && a != p)
        a = a->next;
    return a != NULL;
}

const gr__cuda_texels *gr__cuda_array_texels(cudaArray_const_t array, const char *call, const char *file, int line)
{
    char text[GR__NAME_ROOM];
    const gr__cuda_block *b = gr__cuda_is_array(array) ? gr__cuda_find_block(array->texels.at) : NULL;
    if (b && !b->freed_file)
        return &array->texels;
    if (b)
        gr__cuda_find(file, line, "freed memory: %s is given %s", call, gr__cuda_freed(b, text, sizeof text));
    else
        gr__cuda_find(file, line, "wrong pointer: %s is given an array that no cudaMallocArray made", call);
    return NULL;
}

cudaError_t gr__cuda_array_info(cudaChannelFormatDesc *format, cudaExtent *size, unsigned *flags,
                                cudaArray_const_t array)
{
    const gr__cuda_texels *t = gr__cuda_array_texels(array, "cudaArrayGetInfo", NULL, 0);
    if (!t)
        return gr__cuda_fails(cudaErrorInvalidResourceHandle, NULL, 0);
    if (format)
        *format = t->format;
    if (size)
        *size = (cudaExtent){(size_t)t->size[0], (size_t)t->size[1], (size_t)t->size[2]};
    if (flags)
        *flags = t->flags;
    return cudaSuccess;
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

cudaError_t gr__cuda_array_rows(cudaArray_const_t array, bool to, size_t x, size_t y, const void *other, size_t pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream, bool wait,
                                const char *file, int line)
{
    const gr__cuda_texels *t = gr__cuda_array_texels(array, "a copy", file, line);
    if (!t)
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    if (x > t->pitch || width > t->pitch - x || y > (size_t)t->size[1] || height > (size_t)t->size[1] - y) {
        gr__cuda_find(file, line,
                      "out of bounds: a copy of %zu rows of %zu bytes %s row %zu, byte %zu, of an array of "
                      "%d rows of %zu bytes",
                      height, width, to ? "to" : "from", y, x, t->size[1], t->pitch);
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    }
    char *const here = t->at + y * t->pitch + x;
    return to ? gr__cuda_copy_rows(here, t->pitch, other, pitch, width, height, kind, stream, wait, file, line)
              : gr__cuda_copy_rows((void *)(uintptr_t)other, pitch, here, t->pitch, width, height, kind, stream, wait,
                                   file, line);
}

cudaError_t gr__cuda_array_bytes(cudaArray_const_t array, bool to, size_t x, size_t y, const void *other, size_t bytes,
                                 enum cudaMemcpyKind kind, const char *file, int line)
{
    const gr__cuda_texels *t = gr__cuda_array_texels(array, "a copy", file, line);
    const size_t room = t ? t->pitch * (size_t)t->size[1] : 0, first = t ? y * t->pitch + x : 0;
    if (t && (first > room || bytes > room - first))
        gr__cuda_find(file, line, "out of bounds: a copy of %zu bytes %s byte %zu of an array that has %zu", bytes,
                      to ? "to" : "from", first, room);
    if (!t || first > room || bytes > room - first)
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    return gr__cuda_copy(to ? t->at + first : (void *)(uintptr_t)other, to ? other : t->at + first, bytes, kind, 0,
                         true, file, line);
}
