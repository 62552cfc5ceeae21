/* surface.c - what kernels read from a surface and write there, texel by texel, x in bytes. */
#include <stdio.h>
#include <string.h>

#include "kernels/simt/runtime/textures.h"

/* Brings a place into the array. False: it lies outside and counts for nothing. */
static bool bring_in(const gr__cuda_texels *t, int at[3], int bytes, enum cudaSurfaceBoundaryMode mode)
{
    const int end[3] = {(int)t->pitch, t->size[1], t->size[2]}, step[3] = {bytes, 1, 1};
    for (int d = 0; d < 3; d++) {
        const int most = end[d] - step[d];
        if (at[d] >= 0 && at[d] <= most)
            continue;
        if (mode != cudaBoundaryModeClamp)
            return false;
        at[d] = at[d] < 0 ? 0 : most;
    }
    return true;
}

void gr__cuda_surface(int dimensions, cudaSurfaceObject_t s, const int at[3], void *value, size_t bytes, bool write,
                      enum cudaSurfaceBoundaryMode mode, const char *file, int line)
{
    char call[32], text[256];
    snprintf(call, sizeof call, "surf%dD%s", dimensions, write ? "write" : "read");
    const gr__cuda_texels *t = &gr__cuda_object_at(s, true, call, file, line)->texels;
    int place[3] = {at[0], at[1], at[2]};
    if (at[0] % (int)bytes) {
        snprintf(text, sizeof text, "misaligned: %s at x %d: x counts bytes, %zu for each", call, at[0], bytes);
        gr__simt_refuse(text, file, line);
    }
    if (!bring_in(t, place, (int)bytes, mode)) {
        if (mode == cudaBoundaryModeTrap) {
            snprintf(
                text, sizeof text,
                "out of bounds: %s of %zu bytes at byte %d of row %d, slice %d, of an array of %d rows of %zu bytes",
                call, bytes, at[0], at[1], at[2], t->size[1], t->pitch);
            gr__simt_refuse(text, file, line);
        }
        if (!write)
            memset(value, 0, bytes);
        return;
    }
    char *const p = t->at + ((size_t)place[2] * (size_t)t->size[1] + (size_t)place[1]) * t->pitch + place[0];
    if (write)
        gr__simt_write(p, value, bytes, file, line);
    else
        gr__simt_read(value, p, bytes, file, line);
}
