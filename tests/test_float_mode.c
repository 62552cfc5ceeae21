/*
 * test_float_mode.c - the device "cpu" takes subnormal numbers for zero in every thread; the caller's own mode of
 * computing stays as it was and changes no result. ref and simt keep subnormal numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "gradus.h"

enum { COUNT = 100000 }; /* more than one chunk */

#if defined(__x86_64__) || defined(__aarch64__)
static const bool known_processor = true;
#else
static const bool known_processor = false;
#endif

static gr_context *open_on(const char *device, int threads)
{
    return gr_open(&(gr_options){.device = device, .precision = GR_PRECISION_FP32, .threads = threads});
}

static gr_tensor *filled(gr_context *ctx, int64_t count, float value)
{
    float *values = malloc((size_t)count * sizeof *values);
    gr_tensor *t = gr_tensor_new(ctx, GR_F32, 1, &count);
    for (int64_t i = 0; i < count; i++)
        values[i] = value;
    assert_true(gr_upload(t, values));
    free(values);
    return t;
}

/* How many of a result's numbers are zero. */
static int64_t zeros(const gr_tensor *t, int64_t count)
{
    float *values = malloc((size_t)count * sizeof *values);
    int64_t n = 0;
    assert_true(gr_download(t, values));
    for (int64_t i = 0; i < count; i++)
        n += values[i] == 0;
    free(values);
    return n;
}

/* Zeros in a sum that reads subnormal numbers, and in a product that makes them. */
static void count_zeros(const char *device, int threads, int64_t count, int64_t wanted)
{
    gr_context *ctx = open_on(device, threads);
    assert_int_equal(zeros(gr_add(filled(ctx, count, 1e-40f), filled(ctx, count, 0), NULL), count), wanted);
    assert_int_equal(zeros(gr_scale(filled(ctx, count, 1e-30f), 1e-10), count), wanted);
    assert_int_equal(gr_close(ctx), 0);
}

static void subnormal_numbers_are_zero(void **state)
{
    (void)state;
    if (!known_processor)
        skip();
    count_zeros("cpu", 1, COUNT, COUNT);
    count_zeros("cpu", 2, COUNT, COUNT);
    count_zeros("simt", 1, 100, 0);
}

/* y = x w of whole numbers whose sums must be rounded. */
static void product(int threads, float y[64 * 32])
{
    gr_context *ctx = open_on("cpu", threads);
    float x[64 * 33], w[33 * 32];
    gr_tensor *tx = gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){64, 33});
    gr_tensor *tw = gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){33, 32});
    for (int i = 0; i < 64 * 33; i++)
        x[i] = (float)(i * 7919 % 10007);
    for (int i = 0; i < 33 * 32; i++)
        w[i] = (float)(i * 6007 % 9973);
    assert_true(gr_upload(tx, x) && gr_upload(tw, w));
    assert_true(gr_download(gr_dense(tx, tw, NULL, NULL), y));
    assert_int_equal(gr_close(ctx), 0);
}

static void the_callers_mode_is_its_own(void **state)
{
    (void)state;
    if (!known_processor)
        skip();
    float plain[64 * 32], upward[64 * 32];
    volatile float tiny = 1e-30f, seven = 7;
    for (int threads = 1; threads <= 2; threads++) {
        fesetround(FE_TONEAREST);
        product(threads, plain);
        fesetround(FE_UPWARD);
        product(threads, upward);
        assert_memory_equal(plain, upward, sizeof plain);
        assert_int_equal(fegetround(), FE_UPWARD);
        assert_true(tiny * 1e-10f > 0);          /* subnormal */
        assert_true((double)(seven / 10) > 0.7); /* to nearest it is below */
        fesetround(FE_TONEAREST);
    }
}

static void what_happened_in_a_kernel_is_not_flagged(void **state)
{
    (void)state;
    if (!known_processor)
        skip();
    gr_context *ctx = open_on("cpu", 1);
    gr_tensor *a = filled(ctx, COUNT, 3e38f), *b = filled(ctx, COUNT, 3e38f);
    feclearexcept(FE_ALL_EXCEPT);
    gr_tensor *sum = gr_add(a, b, NULL);
    assert_int_equal(fetestexcept(FE_OVERFLOW), 0);
    assert_int_equal(zeros(sum, COUNT), 0);
    assert_int_equal(gr_close(ctx), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subnormal_numbers_are_zero),
        cmocka_unit_test(the_callers_mode_is_its_own),
        cmocka_unit_test(what_happened_in_a_kernel_is_not_flagged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
