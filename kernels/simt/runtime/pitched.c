/* pitched.c - rows and boxes of rows, each pitch bytes behind the one before: copied and filled row by row. */
#include <stdio.h>

#include "kernels/simt/runtime/runtime.h"

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

cudaError_t gr__cuda_copy_box(const struct cudaMemcpy3DParms *p, cudaStream_t stream, bool wait, const char *file,
                              int line)
{
    if (!p->srcPtr.ptr || !p->dstPtr.ptr || p->srcArray || p->dstArray) {
        gr__cuda_find(file, line,
                      "pitch: cudaMemcpy3D wants srcPtr and dstPtr, by make_cudaPitchedPtr, and 0 in what is "
                      "not set: cudaMemcpy3DParms p = {}");
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    }
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
