/*
 * test_amx.c - the kernels for bf16, on tile registers and on pairs in vectors: what the processor's instructions give
 * has the bits of their twin in plain C, for any number of threads. Where there are no tile instructions a trap stands
 * in for them; the twins themselves are held to Intel's description of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/half.h"
#include "core/parallel.h"
#include "core/philox.h"
#include "gradus.h"
#include "kernels/ops/kernels.h"
#include "tests/amx_trap.h"

#define GR_TILES_EMULATED /* the twin of vdpbf16ps */
#include "kernels/cpu/amx/pairs.h"

/* --- the twin ----------------------------------------------------------------------------------------------------- */

/* What c[0][0] becomes by n numbers of a row of a and of a column of b; all others are 0. */
static float dot(float c, int n, const float *a, const float *b)
{
    twin_tile x = {0}, y = {0}, sum = {0};
    sum.real[0][0] = c;
    for (int i = 0; i < n; i++) {
        x.half[0][i] = gr__bf16_of((double)a[i]);
        y.half[i / 2][i % 2] = gr__bf16_of((double)b[i]);
    }
    const uint64_t before = gr__float_mode_begin();
    twin_dot(&sum, &x, &y);
    gr__float_mode_end(before);
    return sum.real[0][0];
}

static void twin_sums_even_and_odd_halves_apart(void **state)
{
    (void)state;
    const float big = 0x1p24f;
    /* in one sum each 1 would be lost beside 2^24; the even ones meet only each other */
    assert_true(dot(0, 4, (float[]){1, big, 1, -big}, (float[]){1, 1, 1, 1}) == 2);
    assert_true(dot(0, 4, (float[]){big, 1, 1, 1}, (float[]){1, 1, 1, 1}) == 0x1p24f + 2);
    /* the two sums meet before they are added to c */
    assert_true(dot(big, 2, (float[]){1, 1}, (float[]){1, 1}) == 0x1p24f + 2);
}

static void twin_rounds_once_a_product(void **state)
{
    (void)state;
    /* 1.0078125^2 = 1 + 2^-6 + 2^-14 is exact; 2^10 + it loses the last bit to the even neighbour */
    const float x = 1 + 0x1p-7f;
    assert_true(dot(0, 3, (float[]){0x1p10f, 0, x}, (float[]){1, 0, x}) == 0x1p10f + 1 + 0x1p-6f);
    assert_true(isinf(dot(0, 3, (float[]){0x1p127f, 0, 0x1p127f}, (float[]){1, 0, 1})));
    /* a product that a float cannot hold may be taken back before the rounding */
    assert_true(dot(0, 3, (float[]){-0x1p127f, 0, 0x1p64f}, (float[]){1, 0, 0x1p64f}) == 0x1p127f);
    assert_true(dot(0, 4, (float[]){0, -0x1p127f, 0, 0x1p64f}, (float[]){0, 1, 0, 0x1p64f}) == 0x1p127f);
}

static void twin_takes_subnormal_numbers_for_zero(void **state)
{
    (void)state;
    assert_true(dot(0, 1, (float[]){0x1p-130f}, (float[]){0x1p100f}) == 0);
    assert_true(dot(0, 1, (float[]){0x1p-70f}, (float[]){0x1p-70f}) == 0);
    assert_true(dot(0x1p-130f, 1, (float[]){0x1p-126f}, (float[]){1}) == 0x1p-126f);
    assert_true(isnan(dot(0, 1, (float[]){INFINITY}, (float[]){0})));
}

/* --- the twin of vdpbf16ps ---------------------------------------------------------------------------------------- */

/* c and the product of two pairs of bf16, the even halves first. */
static float pair_dot(float c, float a0, float a1, float b0, float b1)
{
    const uint16_t a[2] = {gr__bf16_of((double)a0), gr__bf16_of((double)a1)};
    const uint16_t b[2] = {gr__bf16_of((double)b0), gr__bf16_of((double)b1)};
    float sums[16] = {c};
    const uint64_t before = gr__float_mode_begin();
    lanes_store(sums, lanes_dot(lanes_load(sums), lanes_pair(a), lanes_pair(b)));
    gr__float_mode_end(before);
    return sums[0];
}

static void pairs_add_the_odd_product_first(void **state)
{
    (void)state;
    assert_true(pair_dot(1, 0x1p24f, -0x1p24f, 1, 1) == 1);               /* 1 - 2^24 is a float, */
    assert_true(pair_dot(1, -0x1p24f, 0x1p24f, 1, 1) == 0);               /* 2^24 + 1 is none: to the even neighbour */
    assert_true(pair_dot(-0x1p127f, 0, 0x1p64f, 0, 0x1p64f) == 0x1p127f); /* rounded once */
    assert_true(isinf(pair_dot(0, -0x1p127f, 0x1p64f, 1, 0x1p64f)));
    assert_true(pair_dot(0, 0x1p-130f, 0, 0x1p100f, 0) == 0); /* subnormal numbers, read */
    assert_true(pair_dot(0, 0, 0x1p-70f, 0, 0x1p-70f) == 0);  /* and made */
    assert_true(pair_dot(0x1p-130f, 0x1p-126f, 0, 1, 0) == 0x1p-126f);
    assert_true(isnan(pair_dot(0, INFINITY, 0, 0, 0)));
}

/* --- the kernels -------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
enum { POOLS = 3 };
static const int threads[POOLS] = {1, 2, 5};

/* A convolution of bf16 with weights of floats, as mixed precision makes it. */
typedef struct {
    int64_t x[4], w[4];
    gr_conv2d_args args;
    bool bias, accumulate;
    bool winograd; /* what pairs leave to floats */
} conv;

static const conv convs[] = {
    {{2, 9, 11, 3}, {33, 3, 3, 3}, {.relu = true}, true, false, false},              /* windows as cells */
    {{3, 8, 8, 40}, {40, 3, 3, 40}, {{.padding = GR_SAME}, true}, true, true, true}, /* a group with an image missing */
    {{2, 9, 9, 32}, {65, 3, 3, 32}, {{.padding = GR_SAME, .stride = {2, 2}}, false}, false, false, false},
    {{1, 5, 40, 64}, {20, 1, 1, 64}, {{.stride = {2, 2}}, false}, false, true, false}, /* phases that no tap reaches */
    {{17, 4, 4, 64}, {64, 3, 3, 64}, {{.padding = GR_SAME}, false}, false, false, true},
    {{1, 32, 32, 32}, {32, 3, 3, 32}, {{.padding = GR_SAME}, false}, false, false, true}, /* whole steps */
};

enum { Y, DX, DW, DB, RESULTS };

static gr_tensor tensor(gr_type type, int ndim, const int64_t *shape, uint32_t stream)
{
    gr_tensor t = {.type = type, .ndim = ndim, .shape = {1, 1, 1, 1}, .count = 1};
    for (int i = 0; i < ndim; i++)
        t.count *= t.shape[i] = shape[i];
    t.data = malloc(gr__bytes(&t));
    assert_non_null(t.data);
    for (int64_t i = 0; i < t.count; i++) {
        const float v = gr__random_uniform(17, GR_RNG_INIT, stream, (uint64_t)i) - 0.5f;
        if (type == GR_F32)
            gr__f32(&t)[i] = v;
        else
            ((uint16_t *)t.data)[i] = gr__bf16_of((double)v);
    }
    return t;
}

static void run_pass(const gr_kernel *kernel, gr_call *call, gr_pass pass, gr_pool *pool)
{
    gr_exec exec = {.pool = pool};
    void *room = NULL;
    assert_int_equal(posix_memalign(&room, 256, kernel->scratch(call, pass) + 256), 0);
    exec.scratch = room;
    call->exec = &exec;
    (pass == GR_FORWARD ? kernel->forward : kernel->backward)(call);
    free(room);
}

/* Forward and backward; results[] take what they give. */
static void run_conv(const conv *c, const gr_kernel *kernels, gr_pool *pool, gr_tensor results[RESULTS])
{
    gr_conv2d_args args = c->args;
    gr_tensor x = tensor(GR_BF16, 4, c->x, 1), w = tensor(GR_F32, 4, c->w, 2), b = tensor(GR_F32, 1, c->w, 3);
    gr_geometry g = gr__geometry(&x, c->w[1], c->w[2], &args.window, false);
    args.window = (gr_window){.stride = {(int)g.stride_h, (int)g.stride_w},
                              .padding = GR_EXPLICIT,
                              .pad = {(int)g.pad_top, (int)((g.p - 1) * g.stride_h + g.r - g.h - g.pad_top),
                                      (int)g.pad_left, (int)((g.q - 1) * g.stride_w + g.s - g.w - g.pad_left)}};
    for (int i = 0; i < 4; i++)
        args.window.pad[i] = args.window.pad[i] < 0 ? 0 : args.window.pad[i];
    gr_tensor dy = tensor(GR_BF16, 4, (int64_t[]){g.n, g.p, g.q, c->w[0]}, 4);
    results[Y] = tensor(GR_BF16, 4, dy.shape, 5);
    results[DX] = tensor(GR_BF16, 4, c->x, 6);
    results[DW] = tensor(GR_F32, 4, c->w, 7);
    results[DB] = tensor(GR_F32, 1, c->w, 8);
    gr_call call = {.options = &args,
                    .n_in = 3,
                    .n_out = 1,
                    .in = {&x, &w, c->bias ? &b : NULL},
                    .out = {&results[Y]},
                    .d_in = {&results[DX], &results[DW], c->bias ? &results[DB] : NULL},
                    .d_out = {&dy},
                    .accumulate = c->accumulate ? 7 : 0};
    const bool pairs = kernels == gr__cpu_bf16_emulated_kernels || kernels == gr__cpu_avx512_bf16_kernels;
    assert_int_equal(kernels[GR_OP_conv2d].halves(&call, GR_FORWARD), !(pairs && c->winograd));
    run_pass(&kernels[GR_OP_conv2d], &call, GR_FORWARD, pool);
    run_pass(&kernels[GR_OP_conv2d], &call, GR_BACKWARD, pool);
    free(x.data);
    free(w.data);
    free(b.data);
    free(dy.data);
}

/* A dense layer, likewise. */
typedef struct {
    int64_t n, in, out;
    bool relu, accumulate;
} dense;

static const dense denses[] = {
    {1, 1, 1, false, false},      {33, 2100, 40, true, false}, /* parts, of which the last ends within a step */
    {150, 70, 130, true, true},   {16, 96, 300, false, true},  /* rows of y apart, columns apart */
    {64, 4096, 128, true, false},                              /* whole tiles */
};

static void run_dense(const dense *c, const gr_kernel *kernels, gr_pool *pool, gr_tensor results[RESULTS])
{
    gr_dense_args args = {.relu = c->relu};
    const int64_t in[2] = {c->n, c->in}, weights[2] = {c->in, c->out}, out[2] = {c->n, c->out};
    gr_tensor x = tensor(GR_BF16, 2, in, 1), w = tensor(GR_F32, 2, weights, 2), b = tensor(GR_F32, 1, &c->out, 3);
    gr_tensor dy = tensor(GR_BF16, 2, out, 4);
    results[Y] = tensor(GR_BF16, 2, out, 5);
    results[DX] = tensor(GR_BF16, 2, in, 6);
    results[DW] = tensor(GR_F32, 2, weights, 7);
    results[DB] = tensor(GR_F32, 1, &c->out, 8);
    gr_call call = {.options = &args,
                    .n_in = 3,
                    .n_out = 1,
                    .in = {&x, &w, &b},
                    .out = {&results[Y]},
                    .d_in = {&results[DX], &results[DW], &results[DB]},
                    .d_out = {&dy},
                    .accumulate = c->accumulate ? 7 : 0};
    assert_true(kernels[GR_OP_dense].halves(&call, GR_FORWARD));
    run_pass(&kernels[GR_OP_dense], &call, GR_FORWARD, pool);
    run_pass(&kernels[GR_OP_dense], &call, GR_BACKWARD, pool);
    free(x.data);
    free(w.data);
    free(b.data);
    free(dy.data);
}

/* One of them or the other. */
typedef struct {
    const conv *conv;
    const dense *dense;
} layer;

static void run_layer(layer l, const gr_kernel *kernels, int count, gr_tensor results[RESULTS])
{
    gr_pool *pool = gr__pool_open(count);
    if (l.conv)
        run_conv(l.conv, kernels, pool, results);
    else
        run_dense(l.dense, kernels, pool, results);
    gr__pool_close(pool);
}

static void compare_layer(layer l, const gr_kernel *twins, const gr_kernel *kernels)
{
    gr_tensor twin[RESULTS], made[RESULTS];
    run_layer(l, twins, 1, twin);
    for (int p = 0; p < POOLS; p++) {
        run_layer(l, kernels, threads[p], made);
        for (int r = 0; r < RESULTS; r++) {
            assert_memory_equal(made[r].data, twin[r].data, gr__bytes(&twin[r]));
            free(made[r].data);
        }
    }
    for (int r = 0; r < RESULTS; r++)
        free(twin[r].data);
}

/* The same bits from the processor's kernels, for any number of threads, as from the twin's. */
static void compare_kernels(const gr_kernel *twins, const gr_kernel *kernels)
{
    for (size_t i = 0; i < sizeof convs / sizeof *convs; i++)
        compare_layer((layer){.conv = &convs[i]}, twins, kernels);
    for (size_t i = 0; i < sizeof denses / sizeof *denses; i++)
        compare_layer((layer){.dense = &denses[i]}, twins, kernels);
}

/* What the code around the products is compiled for. */
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

static bool has_pairs(void)
{
    enum { AVX512_BF16 = 1 << 5 };
    unsigned a, b, c, d;
    return has_avx512() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & AVX512_BF16);
}

static void tile_instructions_and_twin_agree(void **state)
{
    (void)state;
    if (!has_avx512())
        skip();
    const char *why;
    setenv("GRADUS_CPU", "amx", true);
    gr_device *device = gr__cpu_device(1, &why);
    const bool trapped = !device;
    if (device)
        device->close(device);
    else
        trap_open();
    compare_kernels(gr__cpu_amx_emulated_kernels, gr__cpu_amx_kernels);
    printf("tile instructions by %s\n", trapped ? "a trap" : "the processor");
    assert_int_equal(trap_configurations, 0);
    assert_true(!trapped || trap_count > 0);
}

static void pair_instructions_and_twin_agree(void **state)
{
    (void)state;
    if (!has_pairs())
        skip();
    compare_kernels(gr__cpu_bf16_emulated_kernels, gr__cpu_avx512_bf16_kernels);
}

/* The instruction itself on 16 floats. */
__attribute__((target("avx512f,avx512bf16"))) static void processor_dot(float *c, const uint16_t *a, const uint16_t *b)
{
    const __m512 x = _mm512_loadu_ps(a), y = _mm512_loadu_ps(b);
    _mm512_storeu_ps(c, _mm512_dpbf16_ps(_mm512_loadu_ps(c), (__m512bh)x, (__m512bh)y));
}

/* Bits of every kind: of one size, whose roundings count; of all sizes; and so small that sums are subnormal. */
static uint32_t drawn_bits(int kind, uint32_t stream, uint64_t i)
{
    static const uint32_t least[] = {120, 0, 50}, most[] = {16, 256, 16};
    const uint32_t bits = gr__random_bits(5, GR_RNG_INIT, stream, i);
    return (bits & 0x807FFFFF) | (least[kind] + (bits >> 23) % most[kind]) << 23;
}

static void pair_instruction_and_twin_agree_on_any_bits(void **state)
{
    (void)state;
    if (!has_pairs())
        skip();
    for (uint64_t i = 0; i < 30000; i++) {
        const int kind = (int)(i % 3);
        uint16_t x[32], y[32];
        uint32_t sums[16];
        float twin[16], made[16];
        for (uint64_t j = 0; j < 32; j++) {
            x[j] = (uint16_t)(drawn_bits(kind, 1, 32 * i + j) >> 16);
            y[j] = (uint16_t)(drawn_bits(kind, 2, 32 * i + j) >> 16);
        }
        for (uint64_t j = 0; j < 16; j++)
            sums[j] = drawn_bits(kind, 3, 16 * i + j) - (kind == 2 ? 50u << 23 : 0);
        memcpy(made, sums, sizeof made);
        processor_dot(made, x, y);
        const uint64_t before = gr__float_mode_begin();
        lanes_store(twin, lanes_dot(lanes_load(sums), lanes_load(x), lanes_load(y)));
        gr__float_mode_end(before);
        for (int j = 0; j < 16; j++)
            assert_true(!memcmp(&made[j], &twin[j], sizeof made[j]) || (isnan(made[j]) && isnan(twin[j])));
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twin_sums_even_and_odd_halves_apart),
        cmocka_unit_test(twin_rounds_once_a_product),
        cmocka_unit_test(twin_takes_subnormal_numbers_for_zero),
        cmocka_unit_test(pairs_add_the_odd_product_first),
#if defined(__x86_64__)
        cmocka_unit_test(tile_instructions_and_twin_agree),
        cmocka_unit_test(pair_instructions_and_twin_agree),
        cmocka_unit_test(pair_instruction_and_twin_agree_on_any_bits),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
