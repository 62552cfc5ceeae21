/*
 * textures.h - arrays, texture objects and surfaces with their callers' places; what kernels fetch, as the type that
 * they name.
 */
#ifndef GRADUS_CUDA_TEXTURES_H
#define GRADUS_CUDA_TEXTURES_H

#include <type_traits>

#include "kernels/simt/cuda/texture_types.h"
#include "kernels/simt/language.h"

/* --- types of texels ---------------------------------------------------------------------------------------------- */

/* A number, or a vector of the type of its x. */
template <class T, bool = std::is_arithmetic<T>::value> struct gr__channels {
    typedef T type;
};
template <class T> struct gr__channels<T, false> {
    typedef decltype(T::x) type;
};
template <class T> static inline cudaChannelFormatDesc cudaCreateChannelDesc()
{
    typedef typename gr__channels<T>::type C;
    const int bits = 8 * sizeof(C), count = sizeof(T) / sizeof(C);
    return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
            std::is_floating_point<C>::value ? cudaChannelFormatKindFloat
            : std::is_signed<C>::value       ? cudaChannelFormatKindSigned
                                             : cudaChannelFormatKindUnsigned};
}
static inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return {x, y, z, w, f};
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }

/* --- arrays ------------------------------------------------------------------------------------------------------- */

static inline cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *format, size_t width,
                                          size_t height = 0, unsigned flags = 0, GR__HERE)
{
    return gr__cuda_array_make(array, format, {width, height, 0}, flags, file, line);
}
static inline cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *format, cudaExtent size,
                                            unsigned flags = 0, GR__HERE)
{
    return gr__cuda_array_make(array, format, size, flags, file, line);
}
static inline cudaError_t cudaFreeArray(cudaArray_t array, GR__HERE) { return gr__cuda_array_free(array, file, line); }
static inline cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *format, cudaArray_const_t array)
{
    return gr__cuda_array_info(format, NULL, NULL, array);
}
static inline cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *format, cudaExtent *size, unsigned *flags,
                                           cudaArray_t array)
{
    return gr__cuda_array_info(format, size, flags, array);
}
static inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                              size_t width, size_t height, enum cudaMemcpyKind kind, GR__HERE)
{
    return gr__cuda_array_rows(to, true, x, y, from, pitch, width, height, kind, 0, true, file, line);
}
static inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                                   size_t width, size_t height, enum cudaMemcpyKind kind,
                                                   cudaStream_t stream = 0, GR__HERE)
{
    return gr__cuda_array_rows(to, true, x, y, from, pitch, width, height, kind, stream, false, file, line);
}
static inline cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                                size_t width, size_t height, enum cudaMemcpyKind kind, GR__HERE)
{
    return gr__cuda_array_rows(from, false, x, y, to, pitch, width, height, kind, 0, true, file, line);
}
static inline cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                                     size_t width, size_t height, enum cudaMemcpyKind kind,
                                                     cudaStream_t stream = 0, GR__HERE)
{
    return gr__cuda_array_rows(from, false, x, y, to, pitch, width, height, kind, stream, false, file, line);
}
static inline cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                            enum cudaMemcpyKind kind, GR__HERE)
{
    return gr__cuda_array_bytes(to, true, x, y, from, bytes, kind, file, line);
}
static inline cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                              enum cudaMemcpyKind kind, GR__HERE)
{
    return gr__cuda_array_bytes(from, false, x, y, to, bytes, kind, file, line);
}

/* --- objects ------------------------------------------------------------------------------------------------------ */

static inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t *t, const cudaResourceDesc *what,
                                                  const cudaTextureDesc *how, const struct cudaResourceViewDesc *view,
                                                  GR__HERE)
{
    return gr__cuda_texture_make(t, what, how, view, file, line);
}
static inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t t, GR__HERE)
{
    return gr__cuda_object_destroy(t, false, file, line);
}
static inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *s, const cudaResourceDesc *what, GR__HERE)
{
    return gr__cuda_surface_make(s, what, file, line);
}
static inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t s, GR__HERE)
{
    return gr__cuda_object_destroy(s, true, file, line);
}

/* --- in kernels --------------------------------------------------------------------------------------------------- */

template <class T>
static inline T gr__fetch(gr__cuda_fetch_kind kind, cudaTextureObject_t t, float x, float y, float z, int layer,
                          const char *file, int line)
{
    typedef typename gr__channels<T>::type C;
    static_assert(sizeof(T) / sizeof(C) != 3 && sizeof(C) <= 4,
                  "a texel has 1, 2 or 4 channels of at most 4 bytes: float4 in place of float3, int2 of a double");
    const float at[3] = {x, y, z};
    const bool floats = std::is_floating_point<C>::value;
    const gr__cuda_texel texel = gr__cuda_fetch(kind, t, at, layer, floats, file, line);
    C channel[sizeof(T) / sizeof(C)];
    for (unsigned i = 0; i < sizeof(T) / sizeof(C); i++)
        channel[i] = floats ? (C)texel.f[i] : (C)texel.i[i];
    T value;
    memcpy(&value, channel, sizeof value);
    return value;
}

/* The two forms of each: with the value as result, and written to *value. */
#define GR__FETCH(name, kind, parameters, ...)                                                                  \
    template <class T> static inline T name(cudaTextureObject_t t, GR__PARTS parameters, GR__HERE)              \
    {                                                                                                           \
        return gr__fetch<T>(kind, t, __VA_ARGS__, file, line);                                                  \
    }                                                                                                           \
    template <class T> static inline void name(T *value, cudaTextureObject_t t, GR__PARTS parameters, GR__HERE) \
    {                                                                                                           \
        *value = gr__fetch<T>(kind, t, __VA_ARGS__, file, line);                                                \
    }
#define GR__PARTS(...) __VA_ARGS__
GR__FETCH(tex1Dfetch, GR__TEX_FETCH, (int i), 0, 0, 0, i)
GR__FETCH(tex1D, GR__TEX_1D, (float x), x, 0, 0, 0)
GR__FETCH(tex2D, GR__TEX_2D, (float x, float y), x, y, 0, 0)
GR__FETCH(tex3D, GR__TEX_3D, (float x, float y, float z), x, y, z, 0)
GR__FETCH(tex1DLayered, GR__TEX_1D_LAYERED, (float x, int layer), x, 0, 0, layer)
GR__FETCH(tex2DLayered, GR__TEX_2D_LAYERED, (float x, float y, int layer), x, y, 0, layer)
#undef GR__FETCH
#undef GR__PARTS

/* The same for surfaces, of which x counts bytes. */
#define GR__SURFACE(d, places, ...)                                                                        \
    template <class T>                                                                                     \
    static inline T surf##d##Dread(cudaSurfaceObject_t s, GR__PARTS places,                                \
                                   enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, GR__HERE)     \
    {                                                                                                      \
        T value;                                                                                           \
        const int at[3] = {__VA_ARGS__};                                                                   \
        gr__cuda_surface(d, s, at, &value, sizeof value, false, mode, file, line);                         \
        return value;                                                                                      \
    }                                                                                                      \
    template <class T>                                                                                     \
    static inline void surf##d##Dread(T *value, cudaSurfaceObject_t s, GR__PARTS places,                   \
                                      enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, GR__HERE)  \
    {                                                                                                      \
        *value = surf##d##Dread<T>(s, __VA_ARGS__, mode, file, line);                                      \
    }                                                                                                      \
    template <class T>                                                                                     \
    static inline void surf##d##Dwrite(T value, cudaSurfaceObject_t s, GR__PARTS places,                   \
                                       enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, GR__HERE) \
    {                                                                                                      \
        const int at[3] = {__VA_ARGS__};                                                                   \
        gr__cuda_surface(d, s, at, &value, sizeof value, true, mode, file, line);                          \
    }
#define GR__PARTS(...) __VA_ARGS__
GR__SURFACE(1, (int x), x)
GR__SURFACE(2, (int x, int y), x, y)
GR__SURFACE(3, (int x, int y, int z), x, y, z)
#undef GR__SURFACE
#undef GR__PARTS

#endif
