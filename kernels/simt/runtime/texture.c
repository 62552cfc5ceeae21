/*
 * texture.c - texture objects and surface objects: what they are made of, checked when they are made, since a GPU says
 * no more than "invalid argument". Their numbers are never used again, so that an old one is known.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/simt/runtime/textures.h"

enum { OBJECTS = 1 << 16, ALIGNMENT = 512, PITCH_ALIGNMENT = 32 };

static gr__cuda_object *objects[OBJECTS];
static unsigned long long count; /* made so far; the first one is number 1 */

/* The texels of a resource; false, after it was told: there are none. */
static bool texels_of(gr__cuda_texels *t, const cudaResourceDesc *what, const char *call, const char *file, int line)
{
    if (what->resType == cudaResourceTypeArray) {
        const gr__cuda_texels *const array = gr__cuda_array_texels(what->res.array.array, call, file, line);
        if (array)
            *t = *array;
        return array;
    }
    const bool rows = what->resType == cudaResourceTypePitch2D;
    if (!rows && what->resType != cudaResourceTypeLinear) {
        gr__cuda_find(file, line, "texture: resType %d is none of cudaResourceTypeArray, Linear and Pitch2D",
                      (int)what->resType);
        return false;
    }
    if (!gr__cuda_format(t, rows ? &what->res.pitch2D.desc : &what->res.linear.desc)) {
        gr__cuda_find(file, line,
                      "texture: its desc says nothing of the texels: cudaCreateChannelDesc<float>() or such");
        return false;
    }
    const size_t bytes =
        rows ? what->res.pitch2D.pitchInBytes * what->res.pitch2D.height : what->res.linear.sizeInBytes;
    t->type = what->resType;
    t->at = rows ? what->res.pitch2D.devPtr : what->res.linear.devPtr;
    t->pitch = rows ? what->res.pitch2D.pitchInBytes : bytes;
    t->size[0] = (int)(rows ? what->res.pitch2D.width : bytes / (size_t)t->bytes);
    t->size[1] = rows ? (int)what->res.pitch2D.height : 1;
    t->size[2] = 1;
    if (!gr__cuda_find_block(t->at)) {
        gr__cuda_find(file, line, "wrong pointer: a texture of memory that is not the device's");
        return false;
    }
    return gr__cuda_fits("a texture", "in", t->at, bytes, file, line);
}

/* Where memory has to lie for a GPU. */
static bool is_aligned(const gr__cuda_texels *t, const char *file, int line)
{
    const bool rows = t->type == cudaResourceTypePitch2D;
    if (rows && t->pitch < (size_t)t->size[0] * (size_t)t->bytes)
        gr__cuda_find(file, line, "pitch: a texture's rows of %zu bytes, each %zu bytes behind the one before",
                      (size_t)t->size[0] * (size_t)t->bytes, t->pitch);
    else if ((uintptr_t)t->at % ALIGNMENT)
        gr__cuda_find(file, line, "misaligned: a texture's memory begins at a multiple of %d bytes, textureAlignment",
                      ALIGNMENT);
    else if (rows && t->pitch % PITCH_ALIGNMENT)
        gr__cuda_find(file, line, "misaligned: a texture's pitch is a multiple of %d bytes, and %zu is none",
                      PITCH_ALIGNMENT, t->pitch);
    else
        return true;
    return false;
}

/* What is wrong with a description, and the error that CUDA has for it; NULL: nothing. */
static const char *wrong_with(const gr__cuda_texels *t, const cudaTextureDesc *how, cudaError_t *error)
{
    bool set =
        (unsigned)how->filterMode <= cudaFilterModeLinear && (unsigned)how->readMode <= cudaReadModeNormalizedFloat;
    for (int i = 0; i < 3; i++)
        set &= (unsigned)how->addressMode[i] <= cudaAddressModeBorder;
    const bool floats = t->format.f == cudaChannelFormatKindFloat, asked = how->readMode == cudaReadModeNormalizedFloat;
    *error = cudaErrorInvalidValue;
    if (!set)
        return "its cudaTextureDesc holds what nobody set: cudaTextureDesc t = {} at first";
    *error = cudaErrorInvalidNormSetting;
    if (asked && !floats && t->bytes / t->channels == 4)
        return "integers of 32 bits are not read as cudaReadModeNormalizedFloat";
    *error = cudaErrorInvalidFilterSetting;
    if (how->filterMode == cudaFilterModeLinear && !floats && !asked)
        return "cudaFilterModeLinear is for floats: integers want cudaReadModeNormalizedFloat";
    return NULL;
}

static cudaError_t keep(unsigned long long *number, const gr__cuda_object *o, const char *file, int line)
{
    gr__cuda_object *kept = count + 1 < OBJECTS ? malloc(sizeof *kept) : NULL;
    if (!kept)
        return gr__cuda_fails(cudaErrorMemoryAllocation, file, line);
    *kept = *o;
    kept->block = gr__cuda_find_block(o->texels.at);
    *number = ++count;
    objects[count] = kept;
    return cudaSuccess;
}

cudaError_t gr__cuda_texture_make(cudaTextureObject_t *t, const cudaResourceDesc *what, const cudaTextureDesc *how,
                                  const struct cudaResourceViewDesc *view, const char *file, int line)
{
    gr__cuda_object o = {.how = *how};
    cudaError_t error;
    gr__cuda_start();
    *t = 0;
    if (view)
        return gr__cuda_fails(cudaErrorNotSupported, file, line);
    if (!texels_of(&o.texels, what, "cudaCreateTextureObject", file, line) || !is_aligned(&o.texels, file, line))
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    const char *const wrong = wrong_with(&o.texels, how, &error);
    if (wrong) {
        gr__cuda_find(file, line, "texture: %s", wrong);
        return gr__cuda_fails(error, file, line);
    }
    return keep(t, &o, file, line);
}

cudaError_t gr__cuda_surface_make(cudaSurfaceObject_t *s, const cudaResourceDesc *what, const char *file, int line)
{
    gr__cuda_object o = {.surface = true};
    gr__cuda_start();
    *s = 0;
    if (what->resType == cudaResourceTypeArray) {
        if (!texels_of(&o.texels, what, "cudaCreateSurfaceObject", file, line))
            return gr__cuda_fails(cudaErrorInvalidValue, file, line);
        if (o.texels.flags & cudaArraySurfaceLoadStore)
            return keep(s, &o, file, line);
    }
    gr__cuda_find(file, line, "surface: of an array that cudaMallocArray made with the flag cudaArraySurfaceLoadStore");
    return gr__cuda_fails(cudaErrorInvalidValue, file, line);
}

static const char *const kinds[] = {"texture", "surface"};
static const char *const makers[] = {"cudaCreateTextureObject", "cudaCreateSurfaceObject"};

/* What is wrong with that number, if anything. */
static bool is_bad(unsigned long long number, bool surface, const char *call, char *text, size_t room)
{
    const gr__cuda_object *const o = number && number <= count ? objects[number] : NULL;
    if (!o || o->surface != surface)
        snprintf(text, room, "%s: %s is given one that no %s made", kinds[surface], call, makers[surface]);
    else if (o->gone_file)
        snprintf(text, room, "%s: %s is given one that was destroyed at %s:%d", kinds[surface], call, o->gone_file,
                 o->gone_line);
    else
        return false;
    return true;
}

cudaError_t gr__cuda_object_destroy(unsigned long long number, bool surface, const char *file, int line)
{
    char text[GR__NAME_ROOM];
    if (!number)
        return cudaSuccess;
    if (is_bad(number, surface, surface ? "cudaDestroySurfaceObject" : "cudaDestroyTextureObject", text, sizeof text)) {
        gr__cuda_find(file, line, "%s", text);
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    }
    gr__cuda_wait_all(); /* kernels in streams, which fetch from it */
    objects[number]->gone_file = file, objects[number]->gone_line = line;
    return gr__cuda_look();
}

const gr__cuda_object *gr__cuda_object_at(unsigned long long number, bool surface, const char *call, const char *file,
                                          int line)
{
    char text[GR__NAME_ROOM];
    if (is_bad(number, surface, call, text, sizeof text))
        gr__simt_refuse(text, file, line);
    const gr__cuda_block *const b = objects[number]->block;
    if (b->freed_file) {
        const int n = snprintf(text, sizeof text, "freed memory: %s of ", call);
        gr__cuda_freed(b, text + n, sizeof text - (size_t)n);
        gr__simt_refuse(text, file, line);
    }
    return objects[number];
}
