/*
 * test_ladder.c - every rung of kernels/cuda/ladder, run by the emulator, against a plain loop in double; and the
 * counters that tell why one is better than the one before.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <gradus.h>

#include "core/half.h"
#include "core/philox.h"
#include "kernels/cuda/ladder/ladder.h"
#include "kernels/ops/updates.h"

enum { GUARD = 64 }; /* elements before and behind each array; those of c must stay as they are */

static const gr_rung rungs[] = {
#define RUNG(name, halves, tile, step, hopper) {#name, gr__simt_ladder_##name, halves, tile, step, hopper},
    GR__LADDER(RUNG)
#undef RUNG
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

/* count numbers from -1 to 1 between guards of NaN, which reach c when they are read. drawn_free's to free. */
static float *drawn(uint64_t seed, int64_t count)
{
    float *x = malloc((size_t)(count + 2 * GUARD) * sizeof *x);
    for (int64_t i = 0; i < count + 2 * GUARD; i++)
        x[i] =
            i < GUARD || i >= GUARD + count ? NAN : 2 * gr__random_uniform(seed, GR_RNG_PROCEDURAL, 0, (uint64_t)i) - 1;
    return x + GUARD;
}

/* Those as halves, between guards of NaN; x becomes what the halves are. */
static uint16_t *halved(float *x, int64_t count)
{
    uint16_t *h = malloc((size_t)(count + 2 * GUARD) * sizeof *h);
    for (int64_t i = 0; i < count + 2 * GUARD; i++) {
        h[i] = gr__f16_of((double)x[i - GUARD]);
        x[i - GUARD] = (float)gr__f16_value(h[i]);
    }
    return h + GUARD;
}

static void drawn_free(float *x)
{
    free(x - GUARD);
}

/* c[i,j] to within the rounding of k products and sums. */
static bool is_right(float c, const float *a, const float *b, int64_t i, int64_t j, int64_t n, int64_t k)
{
    double sum = 0, magnitude = 0;
    for (int64_t l = 0; l < k; l++) {
        const double product = (double)a[i * k + l] * (double)b[l * n + j];
        sum += product;
        magnitude += fabs(product);
    }
    return fabs((double)c - sum) <= (double)FLT_EPSILON * sqrt((double)k) * magnitude;
}

/* Nothing where a rung takes whole tiles and these are none. */
static void check(int rung, int64_t m, int64_t n, int64_t k)
{
    if (m % rungs[rung].tile || n % rungs[rung].tile || k % rungs[rung].step)
        return;
    const int64_t count = m * n + 2 * GUARD;
    float *a = drawn(1, m * k), *b = drawn(2, k * n), *c = malloc((size_t)count * sizeof *c);
    for (int64_t i = 0; i < count; i++)
        c[i] = i < GUARD || i >= GUARD + m * n ? 7 : NAN;
    uint16_t *half_a = rungs[rung].halves ? halved(a, m * k) : NULL;
    uint16_t *half_b = rungs[rung].halves ? halved(b, k * n) : NULL;
    rungs[rung].run(c + GUARD, half_a ? (void *)half_a : a, half_b ? (void *)half_b : b, m, n, k, NULL);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            if (!is_right(c[GUARD + i * n + j], a, b, i, j, n, k))
                fail_msg("%s, m %lld, n %lld, k %lld: c[%lld,%lld] is %g", rungs[rung].name, (long long)m, (long long)n,
                         (long long)k, (long long)i, (long long)j, (double)c[GUARD + i * n + j]);
    for (int64_t i = 0; i < GUARD; i++)
        if (c[i] != 7 || c[GUARD + m * n + i] != 7)
            fail_msg("%s wrote outside c[%lld,%lld]", rungs[rung].name, (long long)m, (long long)n);
    drawn_free(a);
    drawn_free(b);
    free(half_a ? half_a - GUARD : NULL);
    free(half_b ? half_b - GUARD : NULL);
    free(c);
}

/* Extents around the tiles' 32 and 64 and the depths of a step, in every combination. */
static void around_a_tile(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 31, 32, 33, 63, 64, 65}, depths[] = {1, 15, 16, 17, 31, 32, 33};
    for (int rung = 0; rung < RUNGS; rung++)
        for (int i = 0; i < 7; i++)
            for (int j = 0; j < 7; j++)
                for (int l = 0; l < 7; l++)
                    check(rung, sizes[i], sizes[j], depths[l]);
}

static void several_tiles(void **state)
{
    (void)state;
    for (int rung = 0; rung < RUNGS; rung++) {
        check(rung, 130, 200, 70);
        check(rung, 257, 64, 128);
        check(rung, 3, 300, 129);
        check(rung, 128, 1, 500);
        check(rung, 64, 128, 16);
        check(rung, 128, 128, 32);
        check(rung, 256, 384, 160);
        check(rung, 384, 256, 96);
        check(rung, 128, 256, 320); /* more steps than there are stages */
        check(rung, 128, 128, 512);
    }
}

/*
 * Square matrices of one tile of the largest, in a context. Global memory is asked for less and less, and less often;
 * shared memory too.
 */
static void counters(void **state)
{
    (void)state;
    enum { SIDE = 128 };
    gr_context *ctx = gr_open(&(gr_options){.device = "simt"});
    const int64_t shape[2] = {SIDE, SIDE};
    gr_tensor *a[2], *b[2], *c = gr_tensor_new(ctx, GR_F32, 2, shape);
    for (int halves = 0; halves < 2; halves++) {
        a[halves] = gr_tensor_new(ctx, halves ? GR_F16 : GR_F32, 2, shape);
        b[halves] = gr_tensor_new(ctx, halves ? GR_F16 : GR_F32, 2, shape);
    }
    gr_counters count[RUNGS] = {0};
    for (int rung = 0; gr_ladder_rung_name(ctx, rung); rung++) {
        gr_trace_event e;
        const int halves = gr_ladder_rung_type(ctx, rung) == GR_F16;
        assert_string_equal(gr_ladder_rung_name(ctx, rung), rungs[rung].name);
        assert_true(gr_ladder_run(ctx, rung, c, a[halves], b[halves], &e));
        assert_string_equal(e.module, rungs[rung].name);
        assert_true(e.flops == 2.0 * SIDE * SIDE * SIDE && e.end > e.begin);
        count[rung] = e.count;
    }
    const int64_t warps = SIDE * SIDE / 32;
    for (int rung = 0; rung < RUNGS && gr_counts(ctx); rung++) {
        assert_int_equal(count[rung].launches, 1);
        if (rung >= 3 && count[rung].global_sectors > count[rung - 1].global_sectors)
            fail_msg("%s asks for more than the rung below", rungs[rung].name);
    }
    if (gr_counts(ctx)) {
        assert_int_equal(count[0].global_sectors,
                         warps * (SIDE * (32 + 1) + 32)); /* a column of a, one of b, a column of c */
        assert_int_equal(count[1].global_sectors, warps * (SIDE * (1 + 4) + 4));
        assert_int_equal(count[2].global_sectors,
                         warps * (SIDE / 32 * (4 + 4) + 4));                    /* a tile's rows, for each step of 32 */
        assert_int_equal(count[3].global_sectors, (2 * 2 * warps + warps) * 4); /* a and b twice, c once: 2 x 2 tiles */
        assert_int_equal(count[4].global_requests, count[3].global_requests / 4); /* the same, by quads */
        assert_int_equal(count[5].barriers, count[4].barriers / 2 + 4);     /* one a step and tile, and one before */
        assert_int_equal(count[6].global_sectors, (2 * warps + warps) * 4); /* one tile */
        assert_int_equal(count[7].global_sectors, (2 * warps / 2 + warps) * 4); /* of halves */
        assert_int_equal(count[8].bank_conflicts + count[9].bank_conflicts, 0);
        assert_int_equal(count[10].bank_conflicts, 0);
        assert_int_equal(count[10].global_sectors, count[9].global_sectors);
        assert_int_equal(count[10].global_requests, SIDE / 64 * 3 + warps / 2); /* three copies a step; c by pairs */
        assert_true(count[11].shared_requests < 64); /* arrivals and waits alone: 3 a step and stage and warp */
    }
    assert_false(gr_ladder_run(ctx, RUNGS - 1, c, a[0], b[0], &(gr_trace_event){0}));
    assert_non_null(strstr(gr_error_text(ctx), "a and b of f16"));
    gr_clear_error(ctx);
    assert_false(gr_ladder_run(ctx, RUNGS, c, a[0], b[0], &(gr_trace_event){0}));
    assert_non_null(strstr(gr_error_text(ctx), "no rung 12"));
    gr_close(ctx);
}

static void whole_tiles(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.device = "simt"});
    const int64_t shape[2] = {65, 65};
    gr_tensor *a = gr_tensor_new(ctx, GR_F32, 2, shape), *c = gr_tensor_new(ctx, GR_F32, 2, shape);
    assert_true(gr_ladder_run(ctx, 3, c, a, a, &(gr_trace_event){0}));
    assert_false(gr_ladder_run(ctx, 4, c, a, a, &(gr_trace_event){0}));
    assert_non_null(strstr(gr_error_text(ctx), "multiples of 64 and k of 16"));
    gr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(around_a_tile),
        cmocka_unit_test(several_tiles),
        cmocka_unit_test(counters),
        cmocka_unit_test(whole_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
