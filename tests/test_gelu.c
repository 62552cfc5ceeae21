/*
 * test_gelu.c - gelu on the device cpu keeps its digits in the lower tail, where the operation table's bound, which is
 * relative to |x|, would not see them lost; and gives every bf16 the nearest result.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/half.h"
#include "gradus.h"

enum { COUNT = 1 << 16 };

/* From -12.5, below which the result is near the smallest float, to 12.5; some of it close to 0. */
static float *inputs(void)
{
    float *x = malloc(COUNT * sizeof *x);
    for (int i = 0; i < COUNT; i++) {
        const double u = 2.0 * i / (COUNT - 1) - 1; /* -1 to 1 */
        x[i] = (float)(12.5 * (i % 4 ? u : u * u * u * u * u));
    }
    return x;
}

/* y and dX of dY = 1, for the caller to free. */
static void run(const float *x, float **y, float **dx)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu"});
    gr_tensor *tx = gr_variable(ctx, 1, (int64_t[]){COUNT}), *dy = gr_tensor_new(ctx, GR_F32, 1, (int64_t[]){COUNT});
    *y = malloc(COUNT * sizeof **y);
    *dx = malloc(COUNT * sizeof **dx);
    for (int i = 0; i < COUNT; i++)
        (*y)[i] = 1;
    assert_true(gr_upload(tx, x) && gr_upload(dy, *y));
    gr_tensor *ty = gr_gelu(tx);
    assert_true(gr_download(ty, *y));
    assert_true(gr_backward_from(ty, dy) && gr_download(gr_grad(tx), *dx));
    assert_int_equal(gr_close(ctx), 0);
}

static void check(void)
{
    float *x = inputs(), *y, *dx;
    double worst = 0, worst_dx = 0;
    run(x, &y, &dx);
    for (int i = 0; i < COUNT; i++) {
        const double phi = exp(-0.5 * x[i] * x[i]) / sqrt(2 * acos(-1)), share = erfc(-x[i] / sqrt(2)) / 2;
        if (x[i] != 0)
            worst = fmax(worst, fabs(y[i] / (x[i] * share) - 1));
        worst_dx = fmax(worst_dx, fabs(dx[i] - (share + x[i] * phi)) / (share + fabs(x[i]) * phi));
    }
    print_message("y %.2f eps, dX %.2f eps\n", worst / FLT_EPSILON, worst_dx / FLT_EPSILON);
    assert_true(worst <= 4 * FLT_EPSILON && worst_dx <= 4 * FLT_EPSILON);
    free(x), free(y), free(dx);
}

static void digits_are_kept_in_the_tail(void **state)
{
    (void)state;
    check();
    setenv("GRADUS_CPU", "plain", 1);
    check();
}

/* x Phi(x), 0 where the product has no limit but its terms have. */
static double exact(double x)
{
    return x == -INFINITY ? 0 : x * erfc(-x / sqrt(2)) / 2;
}

/* Every bf16 there is: its result is the exact one, rounded; 0 where it or Phi is subnormal. */
static void each_half_is_rounded_once(void **state)
{
    (void)state;
    uint16_t *halves = malloc(COUNT * sizeof *halves);
    for (int i = 0; i < COUNT; i++)
        halves[i] = (uint16_t)i;
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .precision = GR_PRECISION_BF16});
    gr_tensor *x = gr_tensor_new(ctx, GR_BF16, 1, (int64_t[]){COUNT});
    assert_true(gr_upload(x, halves));
    gr_tensor *y = gr_gelu(x);
    assert_int_equal(gr_type_of(y), GR_BF16);
    assert_true(gr_download(y, halves));
    for (int i = 0; i < COUNT; i++) {
        const double from = gr__bf16_value((uint16_t)i), got = gr__bf16_value(halves[i]), want = exact(from);
        const double half_unit = isfinite(want) && want != 0 ? ldexp(1, ilogb(want) - 8) : 0;
        if (isnan(from) ? !isnan(got) : got != want && !(fabs(got - want) <= 1.06 * half_unit + 14 * (double)FLT_MIN))
            fail_msg("gelu(%.9g) is %.9g, not %.9g", from, got, want);
    }
    free(halves);
    assert_int_equal(gr_close(ctx), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_half_is_rounded_once),
                                       cmocka_unit_test(digits_are_kept_in_the_tail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
