/* pitched.c - rows and boxes of rows, each pitch bytes behind the one before: copied and filled row by row. */
#include <stdio.h>

#include "kernels/simt/runtime/textures.h"

/* Whether all of the rows are in the block in which the first one is: one further on would be called the host's. */
static bool fit(const char *call, const char *side, const void *p, size_t pitch, size_t width, size_t height,
                const char *file, int line)
{
    char text[64];
    snprintf(text, sizeof text, "%s of %zu rows, in all", call, height);
    return !width || !height || gr__cuda_fits(text, side, p, (height - 1) * pitch + width, file, line);
}

cudaError_t gr__cuda_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                               size_t height, enum cudaMemcpyKind kind, cudaStream_t stream, bool wait,
                               const char *file, int line)
{
    if (height > 1 && (width > to_pitch || width > from_pitch)) {
        gr__cuda_find(file, line, "pitch: rows of %zu bytes, each %zu bytes behind the one before", width,
                      width > to_pitch ? to_pitch : from_pitch);
        return gr__cuda_fails(cudaErrorInvalidPitchValue, file, line);
    }
    if (!fit("a copy", "to", to, to_pitch, width, height, file, line) ||
        !fit("a copy", "from", from, from_pitch, width, height, file, line))
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    for (size_t row = 0; row < height; row++) {
        const cudaError_t error = gr__cuda_copy((char *)to + row * to_pitch, (const char *)from + row * from_pitch,
                                                width, kind, stream, wait, file, line);
        if (error)
            return error;
    }
    return cudaSuccess;
}

static char *in_box(const cudaPitchedPtr *box, const cudaPos *at, size_t slice)
{
    return (char *)box->ptr + ((at->z + slice) * box->ysize + at->y) * box->pitch + at->x;
}

/* An array on one side of a copy, as rows; x there and the width of the copy count texels. Returns their bytes, 0: that
 * is wrong, and told. */
static size_t array_as_rows(cudaArray_t array, const cudaExtent *box, cudaPitchedPtr *rows, cudaPos *at,
                            const char *file, int line)
{
    const gr__cuda_texels *t = gr__cuda_array_texels(array, "cudaMemcpy3D", file, line);
    if (!t)
        return 0;
    const size_t end[3] = {at->x + box->width, at->y + box->height, at->z + box->depth};
    for (int d = 0; d < 3; d++)
        if (end[d] > (size_t)t->size[d]) {
            gr__cuda_find(file, line,
                          "out of bounds: a copy up to texel %zu, row %zu, slice %zu of an array that has %d, %d, %d",
                          end[0], end[1], end[2], t->size[0], t->size[1], t->size[2]);
            return 0;
        }
    *rows = (cudaPitchedPtr){t->at, t->pitch, t->pitch, (size_t)t->size[1]};
    at->x *= (size_t)t->bytes;
    return (size_t)t->bytes;
}

/* The sides of a copy as rows of bytes. */
static bool as_rows(struct cudaMemcpy3DParms *p, const char *file, int line)
{
    if (!p->srcPtr.ptr == !p->srcArray || !p->dstPtr.ptr == !p->dstArray) {
        gr__cuda_find(file, line,
                      "pitch: cudaMemcpy3D wants srcPtr and dstPtr, by make_cudaPitchedPtr, or srcArray and dstArray, "
                      "and 0 in what is not set: cudaMemcpy3DParms p = {}");
        return false;
    }
    const cudaExtent box = p->extent;
    size_t bytes = 1;
    if (bytes && p->srcArray)
        bytes = array_as_rows(p->srcArray, &box, &p->srcPtr, &p->srcPos, file, line);
    if (bytes && p->dstArray)
        bytes = array_as_rows(p->dstArray, &box, &p->dstPtr, &p->dstPos, file, line);
    p->extent.width *= bytes;
    return bytes;
}

cudaError_t gr__cuda_copy_box(const struct cudaMemcpy3DParms *asked, cudaStream_t stream, bool wait, const char *file,
                              int line)
{
    struct cudaMemcpy3DParms rows = *asked, *const p = &rows;
    if (!as_rows(p, file, line))
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    for (size_t slice = 0; slice < p->extent.depth; slice++) {
        const cudaError_t error = gr__cuda_copy_rows(
            in_box(&p->dstPtr, &p->dstPos, slice), p->dstPtr.pitch, in_box(&p->srcPtr, &p->srcPos, slice),
            p->srcPtr.pitch, p->extent.width, p->extent.height, p->kind, stream, wait, file, line);
        if (error)
            return error;
    }
    return cudaSuccess;
}

cudaError_t gr__cuda_fill_rows(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream,
                               const char *file, int line)
{
    if (!fit("a cudaMemset", "in", to, pitch, width, height, file, line))
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    for (size_t row = 0; row < height; row++) {
        const cudaError_t error = gr__cuda_fill((char *)to + row * pitch, value, width, stream, file, line);
        if (error)
            return error;
    }
    return cudaSuccess;
}

cudaError_t gr__cuda_fill_box(cudaPitchedPtr to, int value, cudaExtent box, cudaStream_t stream, const char *file,
                              int line)
{
    for (size_t slice = 0; slice < box.depth; slice++) {
        const cudaError_t error = gr__cuda_fill_rows(in_box(&to, &(cudaPos){0}, slice), to.pitch, value, box.width,
                                                     box.height, stream, file, line);
        if (error)
            return error;
    }
    return cudaSuccess;
}
