/*
 * test_dense_large.c - a dense layer so large that its dX is stored past the caches, in taller blocks than the table's
 * rows have: some of its input features get the same bits of dX and dW as a layer that has these features alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "gradus.h"

enum { N = 17, IN = 32768 + 48, OUT = 127, PART = 48 };

static float *drawn(int64_t count, unsigned seed)
{
    float *values = malloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        values[i] = (float)(seed >> 8) / (1 << 24) - 0.5f;
    }
    return values;
}

/* The columns first .. first + PART of a matrix of N rows of IN, for the caller to free. */
static float *columns(const float *all, int64_t first)
{
    float *some = malloc(sizeof(float) * N * PART);
    for (int64_t n = 0; n < N; n++)
        memcpy(some + n * PART, all + n * IN + first, PART * sizeof *some);
    return some;
}

/* dx [N,in] and dw [in,OUT] of y = x w, for the caller to free. */
static void gradients(int threads, int64_t in, const float *x, const float *w, const float *dy, float **dx, float **dw)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .threads = threads});
    gr_tensor *tx = gr_variable(ctx, 2, (int64_t[]){N, in}), *tw = gr_variable(ctx, 2, (int64_t[]){in, OUT});
    gr_tensor *tdy = gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){N, OUT});
    *dx = malloc(sizeof(float) * (size_t)(N * in));
    *dw = malloc(sizeof(float) * (size_t)(in * OUT));
    assert_true(gr_upload(tx, x) && gr_upload(tw, w) && gr_upload(tdy, dy));
    assert_true(gr_backward_from(gr_dense(tx, tw, NULL, NULL), tdy));
    assert_true(gr_download(gr_grad(tx), *dx) && gr_download(gr_grad(tw), *dw));
    assert_int_equal(gr_close(ctx), 0);
}

static void a_part_gives_the_same_bits(void **state)
{
    (void)state;
    float *x = drawn((int64_t)N * IN, 1), *w = drawn((int64_t)IN * OUT, 2), *dy = drawn((int64_t)N * OUT, 3), *dx, *dw;
    for (int threads = 1; threads <= 2; threads++) {
        gradients(threads, IN, x, w, dy, &dx, &dw);
        for (int64_t first = 0; first < IN; first += 16384) { /* the last one: the last columns */
            float *some_x = columns(x, first), *some = columns(dx, first), *part_dx, *part_dw;
            gradients(1, PART, some_x, w + first * OUT, dy, &part_dx, &part_dw);
            assert_memory_equal(part_dx, some, sizeof(float) * N * PART);
            assert_memory_equal(part_dw, dw + first * OUT, sizeof(float) * PART * OUT);
            free(some_x), free(some), free(part_dx), free(part_dw);
        }
        free(dx), free(dw);
    }
    free(x), free(w), free(dy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_part_gives_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
