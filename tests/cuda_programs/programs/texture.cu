// Arrays, texture objects and surfaces: prints "all right", or what is wrong. What a texture should give is computed
// from the definition in the programming guide's appendix.
#include <math.h>
#include <stdio.h>
#include <vector>

static int wrong;
#define EXPECT(what, is, should)                                                                                       \
    do {                                                                                                               \
        if (!((is) == (should)))                                                                                       \
            wrong++, printf("%s (line %d): %.9g, not %.9g\n", what, __LINE__, (double)(is), (double)(should));         \
    } while (0)
#define NEAR(what, is, should) EXPECT(what, fabs((is) - (should)) <= 1e-5, true)

static cudaTextureDesc described(cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized)
{
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
    how.filterMode = filter, how.normalizedCoords = normalized;
    how.borderColor[0] = 50;
    return how;
}
static cudaResourceDesc of_array(cudaArray_t array)
{
    cudaResourceDesc what = {};
    what.resType = cudaResourceTypeArray, what.res.array.array = array;
    return what;
}

/* --- one dimension: every mode, against the guide ----------------------------------------------------------------- */

enum { N = 4, PLACES = 64 };
static const float line_of[N] = {1, 3, 9, 27};
static float place(int i) { return (i - 24) / 8.0f + 3 / 1024.0f; } // from -3 to 5, and between two weights

__global__ void sample(float *out, cudaTextureObject_t t, float by)
{
    const float x = (threadIdx.x - 24.0f) / 8 + 3 / 1024.0f;
    out[threadIdx.x] = tex1D<float>(t, x * by);
}

static float texel(int i, cudaTextureAddressMode mode)
{
    if (mode == cudaAddressModeBorder && (i < 0 || i >= N))
        return 50;
    if (mode == cudaAddressModeWrap)
        return line_of[(i + 100 * N) % N];
    if (mode == cudaAddressModeMirror) {
        const int k = (i + 100 * N) % (2 * N);
        return line_of[k < N ? k : 2 * N - 1 - k];
    }
    return line_of[i < 0 ? 0 : i < N ? i : N - 1];
}
static void lines(float *d)
{
    static const char *const modes[] = {"wrap", "clamp", "mirror", "border"};
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, N);
    cudaMemcpyToArray(array, 0, 0, line_of, sizeof line_of, cudaMemcpyHostToDevice);
    const cudaResourceDesc what = of_array(array);
    for (int kind = 0; kind < 16; kind++) {
        cudaTextureAddressMode mode = (cudaTextureAddressMode)(kind / 4);
        const bool linear = kind & 1, normalized = kind & 2;
        const cudaTextureDesc how = described(mode, linear ? cudaFilterModeLinear : cudaFilterModePoint, normalized);
        cudaTextureObject_t t;
        float h[PLACES];
        cudaCreateTextureObject(&t, &what, &how, NULL);
        sample<<<1, PLACES>>>(d, t, normalized ? 1.0f / N : 1);
        cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
        cudaDestroyTextureObject(t);
        if (!normalized && mode != cudaAddressModeBorder)
            mode = cudaAddressModeClamp;
        for (int i = 0; i < PLACES; i++) {
            const float x = linear ? place(i) - 0.5f : place(i), part = rintf((x - floorf(x)) * 256) / 256;
            const int k = (int)floorf(x);
            NEAR(modes[kind / 4], h[i],
                 linear ? (1 - part) * texel(k, mode) + part * texel(k + 1, mode) : texel(k, mode));
        }
    }
    cudaFreeArray(array);
}

/* --- two dimensions, three, layers -------------------------------------------------------------------------------- */

enum { W = 5, H = 3, D = 2 };
__global__ void rectangle(float *out, cudaTextureObject_t t, cudaTextureObject_t box, cudaTextureObject_t layers)
{
    const float x = threadIdx.x, y = threadIdx.y;
    float *mine = out + 4 * (threadIdx.y * W + threadIdx.x);
    tex2D(mine, t, x + 0.5f, y + 0.5f);
    mine[1] = tex2D<float>(t, x + 1, y + 0.75f); // a half and a quarter on
    mine[2] = tex3D<float>(box, x + 0.5f, y + 0.5f, 1.25f);
    mine[3] = tex2DLayered<float>(layers, x + 0.5f, y + 0.5f, threadIdx.y == 1 ? 7 : 1); // there are two
}
static float image(int x, int y) { return (x < W ? x : W - 1) + 10 * (y < H ? y : H - 1); }
static void rectangles(float *d)
{
    float h[H][W], part[2][2] = {{-1, -2}, {-3, -4}}, out[H][W][4], back[2][2], boxes[D][H][W];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            h[y][x] = image(x, y);
            for (int z = 0; z < D; z++)
                boxes[z][y][x] = h[y][x] + 100 * z;
        }
    cudaArray_t array, box, layers;
    cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat), found;
    cudaMallocArray(&array, &format, W, H);
    cudaMalloc3DArray(&box, &format, make_cudaExtent(W, H, D));
    cudaMalloc3DArray(&layers, &format, make_cudaExtent(W, H, D), cudaArrayLayered);
    cudaMemcpy2DToArray(array, 0, 0, part, sizeof part[0], sizeof part[0], 2, cudaMemcpyHostToDevice);
    cudaMemcpy2DToArray(array, 0, 0, h, sizeof h[0], sizeof h[0], H, cudaMemcpyHostToDevice);
    for (cudaArray_t to : {box, layers}) {
        cudaMemcpy3DParms p = {};
        p.srcPtr = make_cudaPitchedPtr(boxes, sizeof boxes[0][0], W, H);
        p.dstArray = to, p.extent = make_cudaExtent(W, H, D), p.kind = cudaMemcpyHostToDevice;
        cudaMemcpy3D(&p);
    }
    const cudaTextureDesc how = described(cudaAddressModeClamp, cudaFilterModeLinear, false);
    const cudaResourceDesc what = of_array(array), in_box = of_array(box), in_layers = of_array(layers);
    cudaTextureObject_t t, u, v;
    cudaCreateTextureObject(&t, &what, &how, NULL);
    cudaCreateTextureObject(&u, &in_box, &how, NULL);
    cudaCreateTextureObject(&v, &in_layers, &how, NULL);
    rectangle<<<1, dim3(W, H)>>>(d, t, u, v);
    cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            NEAR("at the texels", out[y][x][0], image(x, y));
            NEAR("between", out[y][x][1],
                 0.75f * (image(x, y) + image(x + 1, y)) / 2 + 0.25f * (image(x, y + 1) + image(x + 1, y + 1)) / 2);
            NEAR("in a box", out[y][x][2], image(x, y) + 75);
            NEAR("in a layer", out[y][x][3], image(x, y) + 100);
        }
    cudaMemcpy2DFromArray(back, sizeof back[0], array, 3 * sizeof(float), 1, sizeof back[0], 2, cudaMemcpyDeviceToHost);
    EXPECT("from an array", back[1][1], h[2][4]);
    cudaMemcpyFromArray(back, array, sizeof(float), 1, sizeof back, cudaMemcpyDeviceToHost);
    EXPECT("bytes from an array", back[0][0], h[1][1]);
    cudaExtent size;
    unsigned flags;
    cudaArrayGetInfo(&found, &size, &flags, layers);
    EXPECT("of an array", found.x + 100 * size.width + 1000 * size.depth + 10000 * flags, 32 + 500 + 2000 + 10000);
    for (cudaTextureObject_t one : {t, u, v})
        cudaDestroyTextureObject(one);
    cudaFreeArray(array), cudaFreeArray(box), cudaFreeArray(layers);
}

/* --- kinds of texels ---------------------------------------------------------------------------------------------- */

__global__ void kinds(float *out, cudaTextureObject_t bytes, cudaTextureObject_t parts, cudaTextureObject_t shorts,
                      cudaTextureObject_t linear, cudaTextureObject_t rows)
{
    const uchar4 b = tex2D<uchar4>(bytes, 1, 0);
    const float4 p = tex2D<float4>(parts, 1.5f, 0.5f);
    const float s = tex1Dfetch<float>(shorts, 1);
    const int2 l = tex1Dfetch<int2>(linear, 2);
    float values[] = {(float)b.x, (float)b.w, p.x, p.z, s, (float)l.x, (float)l.y, tex2D<float>(rows, 2, 1)};
    for (int i = 0; i < 8; i++)
        out[i] = values[i];
}
static void texels(float *d)
{
    const uchar4 colors[] = {{1, 2, 3, 4}, {255, 51, 102, 204}};
    const short shorts[] = {0, -32767};
    const int2 pairs[] = {{1, 2}, {3, 4}, {-5, 6}};
    float h[8], image[2][3] = {{1, 2, 3}, {4, 5, 6}};
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    cudaMallocArray(&array, &format, 2, 1);
    cudaMemcpy2DToArray(array, 0, 0, colors, sizeof colors, sizeof colors, 1, cudaMemcpyHostToDevice);
    char *memory;
    size_t pitch;
    cudaMalloc(&memory, 1024);
    cudaMemcpy(memory, shorts, sizeof shorts, cudaMemcpyHostToDevice);
    cudaMemcpy(memory + 512, pairs, sizeof pairs, cudaMemcpyHostToDevice);
    float *rows;
    cudaMallocPitch(&rows, &pitch, sizeof image[0], 2);
    cudaMemcpy2D(rows, pitch, image, sizeof image[0], sizeof image[0], 2, cudaMemcpyHostToDevice);
    cudaTextureObject_t t[5];
    cudaTextureDesc how = {};
    cudaResourceDesc what = of_array(array);
    cudaCreateTextureObject(&t[0], &what, &how, NULL);
    how.readMode = cudaReadModeNormalizedFloat, how.filterMode = cudaFilterModeLinear;
    cudaCreateTextureObject(&t[1], &what, &how, NULL);
    how.filterMode = cudaFilterModePoint;
    what.resType = cudaResourceTypeLinear;
    what.res.linear.devPtr = memory, what.res.linear.desc = cudaCreateChannelDesc<short>();
    what.res.linear.sizeInBytes = sizeof shorts;
    cudaCreateTextureObject(&t[2], &what, &how, NULL);
    how.readMode = cudaReadModeElementType;
    what.res.linear.devPtr = memory + 512, what.res.linear.desc = cudaCreateChannelDesc<int2>();
    what.res.linear.sizeInBytes = sizeof pairs;
    cudaCreateTextureObject(&t[3], &what, &how, NULL);
    what.resType = cudaResourceTypePitch2D;
    what.res.pitch2D.devPtr = rows, what.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    what.res.pitch2D.width = 3, what.res.pitch2D.height = 2, what.res.pitch2D.pitchInBytes = pitch;
    cudaCreateTextureObject(&t[4], &what, &how, NULL);
    kinds<<<1, 1>>>(d, t[0], t[1], t[2], t[3], t[4]);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    const float should[] = {255, 204, 1, 0.4f, -1, -5, 6, 6};
    for (int i = 0; i < 8; i++)
        NEAR("kinds", h[i], should[i]);
    for (cudaTextureObject_t one : t)
        cudaDestroyTextureObject(one);
    cudaFreeArray(array), cudaFree(memory), cudaFree(rows);
}

/* --- surfaces ----------------------------------------------------------------------------------------------------- */

__global__ void draw(cudaSurfaceObject_t s)
{
    surf2Dwrite(threadIdx.x + 10.0f * threadIdx.y, s, threadIdx.x * (int)sizeof(float), threadIdx.y);
    surf2Dwrite(99.0f, s, -4, 0, cudaBoundaryModeZero);
}
__global__ void look(float *out, cudaSurfaceObject_t s, cudaTextureObject_t t)
{
    const int x = threadIdx.x, y = threadIdx.y;
    float there;
    surf2Dread(&there, s, x * (int)sizeof(float), y);
    out[y * W + x] = there + tex2D<float>(t, x, y) + surf2Dread<float>(s, 100, 100, cudaBoundaryModeClamp) +
                     surf2Dread<float>(s, 100, 0, cudaBoundaryModeZero);
}
static void surfaces(float *d)
{
    float h[H][W];
    cudaArray *array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, W, H, cudaArraySurfaceLoadStore);
    const cudaResourceDesc what = of_array(array);
    const cudaTextureDesc how = {};
    cudaSurfaceObject_t s;
    cudaTextureObject_t t;
    cudaCreateSurfaceObject(&s, &what), cudaCreateTextureObject(&t, &what, &how, NULL);
    draw<<<1, dim3(W, H)>>>(s);
    look<<<1, dim3(W, H)>>>(d, s, t);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            EXPECT("a surface", h[y][x], 2 * (x + 10 * y) + W - 1 + 10 * (H - 1));
    cudaDestroySurfaceObject(s), cudaDestroyTextureObject(t), cudaFreeArray(array);
}

int main()
{
    float *d;
    cudaMalloc(&d, 4096);
    lines(d), rectangles(d), texels(d), surfaces(d);
    cudaFree(d);
    if (!wrong && cudaGetLastError() == cudaSuccess)
        puts("all right");
    return wrong > 0;
}
