/*
 * main.c - runs every wrapper of kernels/cuda/gpu.h on a device and compares its output with plain C, word by word; a
 * GPU's also with the emulator's. So a mistake in reading the PTX manual shows as soon as there is a GPU.
 *
 *   test_wrappers [simt|cuda]     default: simt
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gradus.h>

#include "core/context.h"
#include "core/half.h"
#include "core/philox.h"
#include "kernels/simt/simt.h"
#include "tests/wrappers/wrappers.h"

enum { BITS = 0, FLOAT_BITS = -1 };
enum { RUNS = 4, UNTOUCHED = 0x5EED5EED };

/* --- inputs: word i of a run -------------------------------------------------------------------------------------- */

typedef uint32_t input(uint64_t run, uint64_t i);

static uint32_t WORDS_ANY(uint64_t run, uint64_t i)
{
    return gr__random_bits(run, GR_RNG_PROCEDURAL, 0, i);
}

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t FLOATS(uint64_t run, uint64_t i)
{
    return bits_of(2 * gr__random_uniform(run, GR_RNG_PROCEDURAL, 0, i) - 1);
}

static double whole(uint64_t run, uint64_t i)
{
    return (double)(WORDS_ANY(run, i) % 17) - 8;
}

static uint32_t INTS(uint64_t run, uint64_t i)
{
    return bits_of((float)whole(run, i));
}

/* From word 192 on stand floats, what the products are added to. */
static bool is_factor(uint64_t i)
{
    return i < 192;
}

static uint32_t HALF_INTS(uint64_t run, uint64_t i)
{
    return is_factor(i) ? gr__f16_of(whole(run, 2 * i)) | (uint32_t)gr__f16_of(whole(run, 2 * i + 1)) << 16
                        : INTS(run, i);
}

static uint32_t HALF_INTS_ALL(uint64_t run, uint64_t i)
{
    return gr__f16_of(whole(run, 2 * i)) | (uint32_t)gr__f16_of(whole(run, 2 * i + 1)) << 16;
}

static uint32_t BF16_INTS_ALL(uint64_t run, uint64_t i)
{
    return gr__bf16_of(whole(run, 2 * i)) | (uint32_t)gr__bf16_of(whole(run, 2 * i + 1)) << 16;
}

static uint32_t BF16_INTS(uint64_t run, uint64_t i)
{
    return is_factor(i) ? BF16_INTS_ALL(run, i) : INTS(run, i);
}

static double between(uint64_t run, uint64_t i)
{
    return (double)float_of(FLOATS(run, i));
}

static uint32_t HALVES(uint64_t run, uint64_t i)
{
    return is_factor(i) ? gr__f16_of(between(run, 2 * i)) | (uint32_t)gr__f16_of(between(run, 2 * i + 1)) << 16
                        : FLOATS(run, i);
}

static uint32_t BF16S(uint64_t run, uint64_t i)
{
    return is_factor(i) ? gr__bf16_of(between(run, 2 * i)) | (uint32_t)gr__bf16_of(between(run, 2 * i + 1)) << 16
                        : FLOATS(run, i);
}

/*
 * In turn: any float; a tie or its neighbour for bf16 and, from the subnormal to the overflowing, for f16 (and for
 * tf32, whose fraction is as long); what has a name.
 */
static uint32_t EDGES(uint64_t run, uint64_t i)
{
    static const float named[] = {0,          -0.0f,   INFINITY,    -INFINITY,   NAN,        65504,
                                  65519.996f, 65520,   0x1p-24f,    0x1p-25f,    0x1.8p-25f, 0x1p-126f,
                                  0x1p-149f,  3.4e38f, 0x1.fep127f, 0x1.ffp127f, -65520,     -0x1p-25f};
    const uint32_t any = WORDS_ANY(run, i), nudge = any >> 8 & 3; /* -1, 0, 1 or 2 units beside the tie */
    switch (i % 4) {
    case 0:
        return any;
    case 1:
        return (any & 0xFFFF0000) + 0x8000 + nudge - 1;
    case 2:
        return ((any & 0x8FFFE000) | (UINT32_C(0x33000000) + (any >> 3 & 0x0F800000))) + 0x1000 + nudge - 1;
    default:
        return bits_of(named[any % (sizeof named / sizeof *named)]);
    }
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    int capability, compare;
    input *in;
    wrapper_run *cuda, *simt;
    wrapper_expect *expect;
} wrapper;

static const wrapper wrappers[] = {
#if defined(GRADUS_WITH_CUDA)
#define WRAPPER(name, capability, input, compare) \
    {#name, capability, compare, input, gr__cuda_run_##name, gr__simt_run_##name, expect_##name},
#else
#define WRAPPER(name, capability, input, compare) \
    {#name, capability, compare, input, NULL, gr__simt_run_##name, expect_##name},
#endif
    WRAPPERS(WRAPPER)
#undef WRAPPER
};

/* Runs it on a device of its own; false: the context tells. */
static bool run_on(gr_context *ctx, wrapper_run *run, const uint32_t *in, uint32_t *out)
{
    const int64_t shape[1] = {WORDS};
    gr_tensor *x = gr_tensor_new(ctx, GR_I32, 1, shape), *y = gr_tensor_new(ctx, GR_I32, 1, shape);
    for (int i = 0; i < WORDS; i++)
        out[i] = UNTOUCHED;
    if (!gr_upload(x, in) || !gr_upload(y, out))
        return false;
    run(y->data, x->data, ctx->device->queue);
    const bool done = gr_download(y, out);
    const char *fault = ctx->device->fault(ctx->device);
    return done && (!fault || gr__fail(ctx, GR_DEVICE_FAULT, "%s", fault));
}

/* Word i of two outputs; tolerance is what a sum of products may be off by. */
static bool same(const wrapper *w, uint32_t a, uint32_t b, double tolerance)
{
    if (a == b)
        return true;
    const double x = (double)float_of(a), y = (double)float_of(b);
    return (w->compare == FLOAT_BITS && isnan(x) && isnan(y)) || (w->compare > 0 && fabs(x - y) <= tolerance);
}

/* The number of words that differ, the first one told. */
static int differences(const wrapper *w, const char *what, const uint32_t *got, const uint32_t *wanted)
{
    int count = 0;
    /* Magnitudes are at most 1, those of n products and d together at most n + 1. */
    const double tolerance = w->compare > 0 ? (w->compare + 1) * (w->compare + 1) * 0x1p-24 : 0;
    for (int i = 0; i < WORDS; i++)
        if (!same(w, got[i], wanted[i], tolerance) && count++ == 0)
            printf("%s: word %d is %08x (%g), %s %08x (%g)\n", w->name, i, (unsigned)got[i], (double)float_of(got[i]),
                   what, (unsigned)wanted[i], (double)float_of(wanted[i]));
    return count;
}

static int check(const wrapper *w, gr_context *ctx, gr_context *emulator, int *bits)
{
    static uint32_t in[WORDS], got[WORDS], wanted[WORDS], emulated[WORDS];
    int wrong = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        for (uint64_t i = 0; i < WORDS; i++) {
            in[i] = w->in(run, i);
            wanted[i] = UNTOUCHED;
        }
        w->expect(wanted, in);
        if (!run_on(ctx, emulator ? w->cuda : w->simt, in, got) ||
            (emulator && !run_on(emulator, w->simt, in, emulated))) {
            printf("%s: %s\n", w->name, gr_error_text(gr_ok(ctx) ? emulator : ctx));
            gr_clear_error(ctx);
            return 1;
        }
        wrong += differences(w, "plain C has", got, wanted);
        if (emulator)
            wrong += differences(w, "the emulator has", got, emulated);
        for (int i = 0; emulator && i < WORDS; i++)
            *bits += got[i] != emulated[i];
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "simt";
    const bool on_gpu = !strcmp(device, "cuda");
    gr_context *ctx = gr_open(&(gr_options){.device = device}),
               *emulator = on_gpu ? gr_open(&(gr_options){.device = "simt"}) : NULL;
    if (!gr_ok(ctx) || (!on_gpu && strcmp(device, "simt"))) {
        fprintf(stderr, "test_wrappers: %s\n", gr_ok(ctx) ? "the device must be simt or cuda" : gr_error_text(ctx));
        return 2;
    }
    const int capability = on_gpu ? atoi(gr_isa_name(ctx) + 3) : 1000;
    if (on_gpu)
        gr__simt_set_tensor_cores(capability);
    int failed = 0;
    for (int i = 0; i < (int)(sizeof wrappers / sizeof *wrappers); i++) {
        const wrapper *w = &wrappers[i];
        int bits = 0;
        const bool missing = w->capability == SM_90A ? on_gpu && capability != 90 : capability < w->capability;
        const int wrong = missing ? 0 : check(w, ctx, emulator, &bits);
        failed += wrong > 0;
        printf("%-18s %s", w->name, missing ? "not on this GPU" : wrong ? "FAILED" : "ok");
        if (bits && !wrong)
            printf(", %d words rounded otherwise than by the emulator", bits);
        putchar('\n');
    }
    gr_close(emulator);
    gr_close(ctx);
    return failed > 0;
}
