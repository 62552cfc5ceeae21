/*
 * texture_fetch.c - what a texture gives at a place, as the CUDA C++ Programming Guide's appendix "Texture Fetching"
 * defines it: coordinates to texels by the address modes, the nearest one or the weighted sum of two in each dimension.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "kernels/simt/half.h"
#include "kernels/simt/runtime/textures.h"

static const struct {
    const char *call;
    int dimensions;
    bool layered;
} kinds[] = {
    [GR__TEX_FETCH] = {"tex1Dfetch", 0, false},
    [GR__TEX_1D] = {"tex1D", 1, false},
    [GR__TEX_2D] = {"tex2D", 2, false},
    [GR__TEX_3D] = {"tex3D", 3, false},
    [GR__TEX_1D_LAYERED] = {"tex1DLayered", 1, true},
    [GR__TEX_2D_LAYERED] = {"tex2DLayered", 2, true},
};

/* One fetch under way. */
typedef struct {
    const gr__cuda_object *o;
    bool floats; /* channels become floats */
    const char *file;
    int line;
} fetch;

/* --- a texel ------------------------------------------------------------------------------------------------------ */

static int integer(const unsigned char *p, int bytes, bool is_signed)
{
    if (bytes == 1)
        return is_signed ? (signed char)*p : *p;
    if (bytes == 2)
        return is_signed ? *(const int16_t *)(const void *)p : *(const uint16_t *)(const void *)p;
    return *(const int *)(const void *)p;
}

/* An integer as a float within [0, 1], or [-1, 1]. */
static float normalized(int v, int bytes, bool is_signed)
{
    const int most = is_signed ? (1 << (8 * bytes - 1)) - 1 : (1 << 8 * bytes) - 1;
    return v < -most ? -1 : (float)v / (float)most;
}

static gr__cuda_texel texel_at(const fetch *f, const int at[3])
{
    const gr__cuda_texels *t = &f->o->texels;
    const int bytes = t->bytes / t->channels;
    const bool is_signed = t->format.f == cudaChannelFormatKindSigned;
    _Alignas(16) unsigned char raw[16];
    gr__cuda_texel out = {.i = {0}};
    gr__simt_read(raw, t->at + ((size_t)at[2] * (size_t)t->size[1] + (size_t)at[1]) * t->pitch + at[0] * t->bytes,
                  (size_t)t->bytes, f->file, f->line);
    for (int i = 0; i < t->channels; i++) {
        const unsigned char *const p = raw + i * bytes;
        if (t->format.f != cudaChannelFormatKindFloat && !f->floats)
            out.i[i] = integer(p, bytes, is_signed);
        else if (t->format.f != cudaChannelFormatKindFloat)
            out.f[i] = normalized(integer(p, bytes, is_signed), bytes, is_signed);
        else
            out.f[i] =
                bytes == 4 ? *(const float *)(const void *)p : gr__half_to_float(*(const uint16_t *)(const void *)p);
    }
    return out;
}

/* --- a place ------------------------------------------------------------------------------------------------------ */

/* Without normalized coordinates there is no wrapping and mirroring: they become clamping. */
static enum cudaTextureAddressMode mode_of(const cudaTextureDesc *how, int dimension)
{
    const enum cudaTextureAddressMode mode = how->addressMode[dimension];
    const bool periodic = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
    return periodic && !how->normalizedCoords ? cudaAddressModeClamp : mode;
}

/* The coordinate in texels. */
static float in_texels(const cudaTextureDesc *how, int dimension, float x, int size)
{
    const enum cudaTextureAddressMode mode = mode_of(how, dimension);
    if (!how->normalizedCoords)
        return x;
    if (mode == cudaAddressModeWrap)
        x -= floorf(x);
    else if (mode == cudaAddressModeMirror)
        x = fmodf(floorf(x), 2) == 0 ? x - floorf(x) : 1 - (x - floorf(x));
    return x * (float)size;
}

/* floorf as an integer, also of what is far away or NaN. */
static int whole(float x)
{
    const float most = 1 << 30;
    return x > most ? 1 << 30 : x < -most ? -(1 << 30) : x == x ? (int)floorf(x) : 0;
}

/* The texel that number i means in a dimension; -1: the border. */
static int addressed(enum cudaTextureAddressMode mode, int i, int size)
{
    if (i >= 0 && i < size)
        return i;
    if (mode == cudaAddressModeBorder)
        return -1;
    if (mode == cudaAddressModeWrap)
        return (i % size + size) % size;
    return i < 0 ? 0 : size - 1;
}

/* The texel with those numbers, in the dimensions that there are. */
static gr__cuda_texel texel_of(const fetch *f, const int number[3], int dimensions, int layer)
{
    int at[3] = {0, 0, layer};
    for (int d = 0; d < dimensions; d++) {
        at[d] = addressed(mode_of(&f->o->how, d), number[d], f->o->texels.size[d]);
        if (at[d] < 0) {
            gr__cuda_texel border;
            for (int i = 0; i < 4; i++)
                if (f->floats)
                    border.f[i] = f->o->how.borderColor[i];
                else
                    border.i[i] = (int)f->o->how.borderColor[i];
            return border;
        }
    }
    return texel_at(f, at);
}

/* Weights have 8 bits behind the point, and 1 is one of them. To the nearest: the guide does not say, but of NVIDIA's
 * simpleTexture the picture is then nearest to the reference, which is a GPU's (1231 of 262144 pixels differ by 1). */
static float weight(float fraction)
{
    return rintf(fraction * 256) / 256;
}

static gr__cuda_texel filtered(const fetch *f, const float x[3], int dimensions, int layer)
{
    float part[3] = {0};
    int first[3] = {0};
    gr__cuda_texel sum = {.f = {0}};
    for (int d = 0; d < dimensions; d++) {
        first[d] = whole(x[d] - 0.5f);
        part[d] = weight(x[d] - 0.5f - (float)first[d]);
    }
    for (int corner = 0; corner < 1 << dimensions; corner++) {
        float by = 1;
        int number[3] = {0};
        for (int d = 0; d < dimensions; d++) {
            const int next = corner >> d & 1;
            number[d] = first[d] + next;
            by *= next ? part[d] : 1 - part[d];
        }
        const gr__cuda_texel t = texel_of(f, number, dimensions, layer);
        for (int i = 0; i < 4 && by > 0; i++)
            sum.f[i] += by * t.f[i];
    }
    return sum;
}

/* --- checks ------------------------------------------------------------------------------------------------------- */

/* What is wrong with fetching that kind of number there in that way, or NULL. */
static const char *wrong_with(const gr__cuda_object *o, gr__cuda_fetch_kind kind, bool floats)
{
    const gr__cuda_texels *t = &o->texels;
    const bool gives_floats =
        t->format.f == cudaChannelFormatKindFloat || o->how.readMode == cudaReadModeNormalizedFloat;
    if (floats && !gives_floats)
        return "is asked for floats, and its texels are integers: cudaReadModeNormalizedFloat makes floats of them";
    if (!floats && gives_floats)
        return "is asked for integers, and gives floats";
    if (kind == GR__TEX_FETCH)
        return t->type == cudaResourceTypeLinear ? NULL : "is not of linear memory: tex1D, tex2D";
    if (t->type == cudaResourceTypeLinear)
        return "is of linear memory: tex1Dfetch, or an array";
    if (kinds[kind].layered != ((t->flags & cudaArrayLayered) != 0))
        return kinds[kind].layered ? "is not of an array with the flag cudaArrayLayered" : "is of layers: tex2DLayered";
    return NULL;
}

static void check(const fetch *f, gr__cuda_fetch_kind kind)
{
    char text[GR__NAME_ROOM];
    const char *const wrong = wrong_with(f->o, kind, f->floats);
    if (!wrong)
        return;
    snprintf(text, sizeof text, "texture: %s: the object %s", kinds[kind].call, wrong);
    gr__simt_refuse(text, f->file, f->line);
}

/* By its number. Behind the end a GPU gives 0, which no manual promises. */
static gr__cuda_texel numbered(const fetch *f, int number)
{
    const int size = f->o->texels.size[0];
    char text[128];
    if (number >= 0 && number < size)
        return texel_at(f, (const int[3]){number, 0, 0});
    if (gr__simt_checks()) {
        snprintf(text, sizeof text, "out of bounds: tex1Dfetch of texel %d of %d", number, size);
        gr__simt_refuse(text, f->file, f->line);
    }
    return (gr__cuda_texel){.i = {0}};
}

gr__cuda_texel gr__cuda_fetch(gr__cuda_fetch_kind kind, cudaTextureObject_t object, const float at[3], int layer,
                              bool floats, const char *file, int line)
{
    const fetch f = {gr__cuda_object_at(object, false, kinds[kind].call, file, line), floats, file, line};
    const int dimensions = kinds[kind].dimensions, *const size = f.o->texels.size;
    float x[3] = {0};
    int number[3] = {0};
    check(&f, kind);
    if (kind == GR__TEX_FETCH)
        return numbered(&f, layer);
    const int slice = layer < 0 || !kinds[kind].layered ? 0 : layer < size[2] ? layer : size[2] - 1;
    for (int d = 0; d < dimensions; d++) {
        x[d] = in_texels(&f.o->how, d, at[d], size[d]);
        number[d] = whole(x[d]);
    }
    return f.o->how.filterMode == cudaFilterModeLinear ? filtered(&f, x, dimensions, slice)
                                                       : texel_of(&f, number, dimensions, slice);
}
