/*
 * curand.c - cuRAND's generators for the host. XORWOW's 4096 subsequences take turns: each makes one number, or pair
 * of normal ones, of as many of its bits as that takes. So do cuRAND's own (measured with curandCreateGeneratorHost of
 * CUDA 13), of which those of the host and of the device agree.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/cuda/curand.h"
#include "kernels/simt/cuda/curand_numbers.h"
#include "kernels/simt/runtime/runtime.h"

enum { LANES = 4096 };

struct curandGenerator_st {
    struct curandGenerator_st *next;
    bool host, ready; /* ready: the lanes are those of seed and offset */
    uint64_t seed, offset;
    int turn; /* the lane that makes the next number */
    struct {
        uint32_t d, v[5];
        uint64_t made; /* of its numbers */
    } lane[LANES];
};

static curandGenerator_t generators;

/* The link to a generator; to NULL, which is told: there is none. */
static curandGenerator_t *find(curandGenerator_t g, const char *call)
{
    curandGenerator_t *link = &generators;
    while (*link && *link != g)
        link = &(*link)->next;
    if (!*link)
        gr__cuda_find(NULL, 0, "wrong pointer: %s is given a generator that no curandCreateGenerator made", call);
    return link;
}

static bool is_one(curandGenerator_t g, const char *call)
{
    return *find(g, call);
}

static curandStatus_t create(curandGenerator_t *g, curandRngType_t type, bool host)
{
    gr__cuda_start();
    if (type != CURAND_RNG_PSEUDO_DEFAULT && type != CURAND_RNG_PSEUDO_XORWOW)
        return CURAND_STATUS_TYPE_ERROR;
    *g = calloc(1, sizeof **g);
    if (!*g)
        return CURAND_STATUS_ALLOCATION_FAILED;
    (*g)->host = host, (*g)->next = generators;
    generators = *g;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandCreateGenerator(curandGenerator_t *g, curandRngType_t type)
{
    return create(g, type, false);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *g, curandRngType_t type)
{
    return create(g, type, true);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t g)
{
    curandGenerator_t *const link = find(g, "curandDestroyGenerator");
    if (!*link)
        return CURAND_STATUS_NOT_INITIALIZED;
    *link = g->next;
    free(g);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int *version)
{
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t g, unsigned long long seed)
{
    if (!is_one(g, "curandSetPseudoRandomGeneratorSeed"))
        return CURAND_STATUS_NOT_INITIALIZED;
    if (g->ready) /* it goes on where it was */
        g->offset = g->lane[g->turn].made * LANES + (uint64_t)g->turn;
    g->seed = seed, g->ready = false;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t g, unsigned long long offset)
{
    if (!is_one(g, "curandSetGeneratorOffset"))
        return CURAND_STATUS_NOT_INITIALIZED;
    g->offset = offset, g->ready = false;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t g, curandOrdering_t order)
{
    (void)order; /* of XORWOW all are the same */
    return is_one(g, "curandSetGeneratorOrdering") ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

/* Numbers are there when the call returns, in whatever stream. */
curandStatus_t curandSetStream(curandGenerator_t g, cudaStream_t stream)
{
    (void)stream;
    return is_one(g, "curandSetStream") ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

static void seed_lanes(curandGenerator_t g)
{
    for (int i = 0; i < LANES; i++) {
        const uint64_t before = g->offset / LANES + ((uint64_t)i < g->offset % LANES);
        gr__cuda_xorwow_seed(g->seed, &g->lane[i].d, g->lane[i].v);
        gr__cuda_xorwow_jump(g->lane[i].v, 67, (uint64_t)i);
        gr__cuda_xorwow_jump(g->lane[i].v, 0, before);
        g->lane[i].d += 362437 * (uint32_t)before;
        g->lane[i].made = before;
    }
    g->turn = (int)(g->offset % LANES);
    g->ready = true;
}

curandStatus_t curandGenerateSeeds(curandGenerator_t g)
{
    if (!is_one(g, "curandGenerateSeeds"))
        return CURAND_STATUS_NOT_INITIALIZED;
    if (!g->ready)
        seed_lanes(g);
    return CURAND_STATUS_SUCCESS;
}

/* --- arrays ------------------------------------------------------------------------------------------------------- */

typedef enum { BITS, UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE, LOG_NORMAL, LOG_NORMAL_DOUBLE } kind;
static const struct {
    const char *call;
    size_t bytes;
    bool pairs, logarithms;
} kinds[] = {
    [BITS] = {"curandGenerate", 4, false, false},
    [UNIFORM] = {"curandGenerateUniform", 4, false, false},
    [UNIFORM_DOUBLE] = {"curandGenerateUniformDouble", 8, false, false},
    [NORMAL] = {"curandGenerateNormal", 4, true, false},
    [NORMAL_DOUBLE] = {"curandGenerateNormalDouble", 8, true, false},
    [LOG_NORMAL] = {"curandGenerateLogNormal", 4, true, true},
    [LOG_NORMAL_DOUBLE] = {"curandGenerateLogNormalDouble", 8, true, true},
};

typedef union {
    uint32_t bits;
    float f[2];
    double d[2];
} numbers;

static uint32_t bits_of(curandGenerator_t g, int lane)
{
    g->lane[lane].made++;
    return gr__curand_xorwow(&g->lane[lane].d, g->lane[lane].v);
}

/* The next number, or pair, of the lane whose turn it is. */
static numbers next(curandGenerator_t g, kind k)
{
    const int lane = g->turn;
    numbers n = {.bits = bits_of(g, lane)};
    g->turn = (lane + 1) % LANES;
    if (k == UNIFORM) {
        n.f[0] = gr__curand_uniform(n.bits);
    } else if (kinds[k].bytes == sizeof(double)) {
        n.d[0] = gr__curand_uniform_double(n.bits, bits_of(g, lane));
        if (k == UNIFORM_DOUBLE)
            return n;
        const uint32_t low = bits_of(g, lane), high = bits_of(g, lane);
        gr__curand_normal_double(n.d[0], gr__curand_uniform_double(low, high), n.d);
    } else if (kinds[k].pairs) {
        gr__curand_normal(n.bits, bits_of(g, lane), n.f);
    }
    return n;
}

static void scale(numbers *n, kind k, double mean, double deviation)
{
    for (int i = 0; i < 2 && kinds[k].pairs; i++)
        if (kinds[k].bytes == sizeof(float)) {
            const float x = (float)mean + n->f[i] * (float)deviation;
            n->f[i] = kinds[k].logarithms ? expf(x) : x;
        } else {
            const double x = mean + n->d[i] * deviation;
            n->d[i] = kinds[k].logarithms ? exp(x) : x;
        }
}

/* Whether a generator of the device is given the device's memory, one of the host the host's, and enough of it. */
static bool right_memory(curandGenerator_t g, kind k, const void *out, size_t n)
{
    const gr__cuda_block *b = gr__cuda_find_block(out);
    const bool wrong = g->host ? b && b->type == cudaMemoryTypeDevice : !b;
    if (wrong)
        gr__cuda_find(NULL, 0, "wrong pointer: %s of %s is given memory of the %s", kinds[k].call,
                      g->host ? "curandCreateGeneratorHost" : "curandCreateGenerator", g->host ? "device" : "host");
    return !wrong && gr__cuda_fits(kinds[k].call, "in", out, n * kinds[k].bytes, NULL, 0);
}

static curandStatus_t generate(curandGenerator_t g, kind k, void *out, size_t n, double mean, double deviation)
{
    const size_t each = kinds[k].pairs ? 2 : 1, bytes = each * kinds[k].bytes;
    if (!is_one(g, kinds[k].call))
        return CURAND_STATUS_NOT_INITIALIZED;
    if (n % each)
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    if (!right_memory(g, k, out, n))
        return CURAND_STATUS_LAUNCH_FAILURE;
    char *made = malloc(n * kinds[k].bytes + 1);
    if (!made)
        return CURAND_STATUS_ALLOCATION_FAILED;
    if (!g->ready)
        seed_lanes(g);
    for (size_t i = 0; i < n / each; i++) {
        numbers some = next(g, k);
        scale(&some, k, mean, deviation);
        memcpy(made + i * bytes, &some, bytes);
    }
    const cudaError_t error = gr__cuda_copy(out, made, n * kinds[k].bytes, cudaMemcpyDefault, 0, true, NULL, 0);
    free(made);
    return error ? CURAND_STATUS_PREEXISTING_FAILURE : CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t g, unsigned *out, size_t n)
{
    return generate(g, BITS, out, n, 0, 1);
}

curandStatus_t curandGenerateUniform(curandGenerator_t g, float *out, size_t n)
{
    return generate(g, UNIFORM, out, n, 0, 1);
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double *out, size_t n)
{
    return generate(g, UNIFORM_DOUBLE, out, n, 0, 1);
}

curandStatus_t curandGenerateNormal(curandGenerator_t g, float *out, size_t n, float mean, float deviation)
{
    return generate(g, NORMAL, out, n, mean, deviation);
}

curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double *out, size_t n, double mean, double deviation)
{
    return generate(g, NORMAL_DOUBLE, out, n, mean, deviation);
}

curandStatus_t curandGenerateLogNormal(curandGenerator_t g, float *out, size_t n, float mean, float deviation)
{
    return generate(g, LOG_NORMAL, out, n, mean, deviation);
}

curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t g, double *out, size_t n, double mean, double deviation)
{
    return generate(g, LOG_NORMAL_DOUBLE, out, n, mean, deviation);
}
