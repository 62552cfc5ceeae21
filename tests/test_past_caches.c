/*
 * test_past_caches.c - results so large that they are stored past the caches: dX of a dense layer, also on tiles,
 * pictures as floats and behind their first layer, a convolution by Winograd's algorithm and its filters' gradients,
 * batch normalisation; and an image so large that its copies for tiles are made in two rounds. Some of the input
 * features, pictures, filters or rows get the same bits as in a result that is not so large. Lists of what is asked for
 * ahead keep to their room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "gradus.h"
#include "tests/open_on_isa.h"

#define GR_ISA plain
#include "kernels/cpu/ahead.h"

/* The dense layer. */
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

/* The same on tiles, in bf16 and in floats of pieces: 8.4 million numbers of dX and w, whole cache lines of dX. */
enum { TILED = 32, TALL = 131072, FEW = 64 };

/* dx [TILED,in] of y = x w, for the caller to free. */
static char *tiled_grad_x(gr_precision precision, int threads, int64_t in, const void *w, const void *dy)
{
    const gr_options options = {.device = "cpu", .precision = precision, .threads = threads};
    gr_context *ctx = open_on_isa("amx-emulated", &options);
    const gr_type type = gr_compute_type(ctx);
    gr_tensor *x = gr_activation(ctx, 2, (int64_t[]){TILED, in});
    gr_tensor *tw = gr_tensor_new(ctx, type, 2, (int64_t[]){in, TILED});
    gr_tensor *tdy = gr_tensor_new(ctx, type, 2, (int64_t[]){TILED, TILED});
    char *dx = malloc((size_t)(TILED * in) * gr_type_size(type));
    assert_true(gr_upload(tw, w) && gr_upload(tdy, dy));
    assert_true(gr_backward_from(gr_dense(x, tw, NULL, NULL), tdy) && gr_download(gr_grad(x), dx));
    assert_int_equal(gr_close(ctx), 0);
    return dx;
}

/* FEW features, the first and the last, against all of them; a number has `size` bytes. */
static void compare_features(gr_precision precision, size_t size, const char *w, const char *dy)
{
    char *all = tiled_grad_x(precision, 2, TALL, w, dy);
    for (int64_t first = 0; first < TALL; first += TALL - FEW) {
        char *few = tiled_grad_x(precision, 1, FEW, w + (size_t)(first * TILED) * size, dy);
        for (int64_t n = 0; n < TILED; n++)
            assert_memory_equal(few + (size_t)(n * FEW) * size, all + (size_t)(n * TALL + first) * size, FEW * size);
        free(few);
    }
    free(all);
}

static void a_few_features_have_the_same_bits(void **state)
{
    (void)state;
    float *w = drawn((int64_t)TALL * TILED, 11), *dy = drawn(TILED * TILED, 12);
    compare_features(GR_PRECISION_BF16X3, sizeof(float), (char *)w, (char *)dy);
    for (int64_t i = 0; i < (int64_t)TALL * TILED; i++) /* the upper half of a float is a number of bf16 */
        memcpy((char *)w + 2 * i, (char *)(w + i) + 2, 2);
    for (int64_t i = 0; i < TILED * TILED; i++)
        memcpy((char *)dy + 2 * i, (char *)(dy + i) + 2, 2);
    compare_features(GR_PRECISION_BF16, 2, (char *)w, (char *)dy);
    free(w), free(dy);
}

/* Rows of an image on tiles: so long that copies of all but the last two are what scratch holds at a time. */
enum { LONG_ROWS = 17, ROW_PIXELS = 4096, DEPTH = 64, TWO_PANELS = 33 };

/* y of rows [n] of x under 1x1 filters w [TWO_PANELS,1,1,DEPTH], in bf16, for the caller to free. */
static uint16_t *tiled_rows(int threads, int64_t n, const uint16_t *x, const uint16_t *w)
{
    const gr_options options = {.device = "cpu", .precision = GR_PRECISION_BF16, .threads = threads};
    gr_context *ctx = open_on_isa("amx-emulated", &options);
    gr_tensor *tx = gr_tensor_new(ctx, GR_BF16, 4, (int64_t[]){1, n, ROW_PIXELS, DEPTH});
    gr_tensor *tw = gr_tensor_new(ctx, GR_BF16, 4, (int64_t[]){TWO_PANELS, 1, 1, DEPTH});
    uint16_t *y = malloc((size_t)(n * ROW_PIXELS * TWO_PANELS) * sizeof *y);
    assert_true(gr_upload(tx, x) && gr_upload(tw, w));
    assert_true(gr_download(gr_conv2d(tx, tw, NULL, NULL), y));
    assert_int_equal(gr_close(ctx), 0);
    return y;
}

static void a_row_gives_the_same_bits(void **state)
{
    (void)state;
    float *numbers = drawn(LONG_ROWS * ROW_PIXELS * DEPTH, 13);
    uint16_t *x = malloc(LONG_ROWS * ROW_PIXELS * DEPTH * sizeof *x);
    for (int64_t i = 0; i < LONG_ROWS * ROW_PIXELS * DEPTH; i++)
        memcpy(x + i, (char *)(numbers + i) + 2, 2);
    const uint16_t *w = x + ROW_PIXELS; /* numbers like others */
    for (int threads = 1; threads <= 2; threads++) {
        uint16_t *all = tiled_rows(threads, LONG_ROWS, x, w);
        for (int64_t i = 0; i < LONG_ROWS; i += LONG_ROWS - 1) {
            uint16_t *one = tiled_rows(1, 1, x + i * ROW_PIXELS * DEPTH, w);
            assert_memory_equal(one, all + i * ROW_PIXELS * TWO_PANELS, ROW_PIXELS * TWO_PANELS * sizeof *one);
            free(one);
        }
        free(all);
    }
    free(x), free(numbers);
}

/* The first layer: PICTURES x SIDE/2 x SIDE/2 x FILTERS are 8.5 million numbers. */
enum { PICTURES = 26, SIDE = 202, FILTERS = 32, PIXELS = SIDE * SIDE * 3, POOLED = SIDE / 2 * SIDE / 2 * FILTERS };

/* y of n pictures [n,SIDE,SIDE,3] under filters w [FILTERS,3,3,3], for the caller to free. */
static float *pooled(int threads, int64_t n, const float *x, const float *w)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .threads = threads});
    gr_tensor *tx = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){n, SIDE, SIDE, 3});
    gr_tensor *tw = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){FILTERS, 3, 3, 3});
    const gr_conv2d_relu_max_pool_args args = {.conv.window.padding = GR_SAME,
                                               .pool = {.size = {2, 2}, .window.stride = {2, 2}}};
    float *y = malloc(sizeof(float) * (size_t)n * POOLED);
    assert_true(gr_upload(tx, x) && gr_upload(tw, w));
    assert_true(gr_download(gr_conv2d_relu_max_pool(tx, tw, NULL, &args), y));
    assert_int_equal(gr_close(ctx), 0);
    return y;
}

static void a_picture_gives_the_same_bits(void **state)
{
    (void)state;
    float *x = drawn((int64_t)PICTURES * PIXELS, 4), *w = drawn(FILTERS * 27, 5);
    for (int threads = 1; threads <= 2; threads++) {
        float *all = pooled(threads, PICTURES, x, w);
        for (int64_t i = 0; i < PICTURES; i += PICTURES - 1) {
            float *one = pooled(1, 1, x + i * PIXELS, w);
            assert_memory_equal(one, all + i * POOLED, sizeof(float) * POOLED);
            free(one);
        }
        free(all);
    }
    free(x), free(w);
}

/* Bytes that take every value, to floats: 4.3 million of them, and the first few. */
static void a_few_bytes_give_the_same_bits(void **state)
{
    (void)state;
    enum { ROWS = 700, SOME = 16, COLUMNS = 2048, ROW = COLUMNS * 3 };
    uint8_t *x = malloc(ROWS * ROW);
    float *all = malloc(sizeof(float) * ROWS * ROW), *some = malloc(sizeof(float) * SOME * ROW);
    const gr_normalise_args args = {.mean = {0.485f, 0.456f, 0.406f}, .std = {0.229f, 0.224f, 0.225f}};
    for (int64_t i = 0; i < ROWS * ROW; i++)
        x[i] = (uint8_t)(i * 7 + i / 256);
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .threads = 2});
    gr_tensor *many = gr_tensor_new(ctx, GR_U8, 4, (int64_t[]){1, ROWS, COLUMNS, 3});
    gr_tensor *few = gr_tensor_new(ctx, GR_U8, 4, (int64_t[]){1, SOME, COLUMNS, 3});
    assert_true(gr_upload(many, x) && gr_upload(few, x));
    assert_true(gr_download(gr_normalise(many, &args), all) && gr_download(gr_normalise(few, &args), some));
    assert_memory_equal(some, all, sizeof(float) * SOME * ROW);
    assert_int_equal(gr_close(ctx), 0);
    free(x), free(all), free(some);
}

/* A layer of many channels: 4.3 million numbers, and half as many. */
enum { ALL = 65, HALF = 33, CHANNELS = 64, IMAGE = 32 * 32 * CHANNELS };

/* Images behind a convolution by filters w and normalisation by given statistics, for the caller to free. */
static float *convolved(int threads, int64_t n, const float *x, const float *w, const float *ones)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .threads = threads});
    gr_tensor *tx = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){n, 32, 32, CHANNELS});
    gr_tensor *tw = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){CHANNELS, 3, 3, CHANNELS});
    gr_tensor *one = gr_tensor_new(ctx, GR_F32, 1, (int64_t[]){CHANNELS});
    float *y = malloc(sizeof(float) * (size_t)n * IMAGE);
    assert_true(gr_upload(tx, x) && gr_upload(tw, w) && gr_upload(one, ones));
    gr_tensor *z = gr_conv2d(tx, tw, NULL, &(gr_conv2d_args){.window.padding = GR_SAME});
    const gr_statistics given = {one, one};
    assert_true(gr_download(gr_batch_norm(z, one, one, z, &given, &(gr_batch_norm_args){.relu = true}, NULL), y));
    assert_int_equal(gr_close(ctx), 0);
    return y;
}

static void half_of_the_images_have_the_same_bits(void **state)
{
    (void)state;
    float *x = drawn((int64_t)ALL * IMAGE, 6), *w = drawn(CHANNELS * 9 * CHANNELS, 7), ones[CHANNELS];
    for (int i = 0; i < CHANNELS; i++)
        ones[i] = 1;
    for (int threads = 1; threads <= 2; threads++) {
        float *all = convolved(threads, ALL, x, w, ones), *half = convolved(1, HALF, x, w, ones);
        assert_memory_equal(half, all, sizeof(float) * HALF * IMAGE);
        free(all), free(half);
    }
    free(x), free(w);
}

/* Filters of 4608 numbers: 1.2 million of gradients, and some. */
enum { DEEP = 512, MANY = 256, SOME = 32, SMALL_IMAGES = 2 * 4 * 4 };

/* dw [k,3,3,DEEP] of two images x of 4x4 pixels, for the caller to free. dy [2,4,4,MANY], of which k from first on. */
static float *filters_of(int threads, int64_t first, int64_t k, const float *x, const float *w, const float *dy)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .threads = threads});
    gr_tensor *tx = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){2, 4, 4, DEEP});
    gr_tensor *tw = gr_variable(ctx, 4, (int64_t[]){k, 3, 3, DEEP});
    gr_tensor *tdy = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){2, 4, 4, k});
    float *some = malloc(sizeof(float) * (size_t)(SMALL_IMAGES * k)),
          *dw = malloc(sizeof(float) * (size_t)(k * 9 * DEEP));
    for (int64_t i = 0; i < SMALL_IMAGES; i++)
        memcpy(some + i * k, dy + i * MANY + first, (size_t)k * sizeof *some);
    assert_true(gr_upload(tx, x) && gr_upload(tw, w) && gr_upload(tdy, some));
    assert_true(gr_backward_from(gr_conv2d(tx, tw, NULL, &(gr_conv2d_args){.window.padding = GR_SAME}), tdy));
    assert_true(gr_download(gr_grad(tw), dw));
    assert_int_equal(gr_close(ctx), 0);
    free(some);
    return dw;
}

static void some_filters_have_the_same_bits(void **state)
{
    (void)state;
    float *x = drawn((int64_t)SMALL_IMAGES * DEEP, 8), *w = drawn((int64_t)MANY * 9 * DEEP, 9);
    float *dy = drawn((int64_t)SMALL_IMAGES * MANY, 10);
    for (int threads = 1; threads <= 2; threads++) {
        float *all = filters_of(threads, 0, MANY, x, w, dy);
        for (int64_t first = 0; first < MANY; first += MANY - SOME) {
            float *some = filters_of(1, first, SOME, x, w, dy);
            assert_memory_equal(some, all + first * 9 * DEEP, sizeof(float) * SOME * 9 * DEEP);
            free(some);
        }
        free(all);
    }
    free(x), free(w), free(dy);
}

/* What is asked for ahead in layers so large: more than a list holds, by rows of one and of three runs. */
static void a_list_of_what_comes_next_keeps_to_its_room(void **state)
{
    (void)state;
    static const float numbers[2 * RUN * LINE + 1];
    ahead *list = malloc(sizeof *list);
    ahead_clear(list);
    ahead_add(list, numbers, RUNS - 4, RUN * LINE, 0);
    ahead_add(list, numbers, RUNS, 2 * RUN * LINE + 1, 0);
    assert_int_equal(list->n, RUNS - 1);
    ahead_add(list, numbers, 2, RUN * LINE, 0);
    assert_int_equal(list->n, RUNS);
    assert_ptr_equal(list->runs[RUNS - 2], numbers + 2 * RUN * LINE);
    ahead_add(list, numbers, 1, 1, 0);
    assert_int_equal(list->n, RUNS);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_few_bytes_give_the_same_bits),
                                       cmocka_unit_test(half_of_the_images_have_the_same_bits),
                                       cmocka_unit_test(a_part_gives_the_same_bits),
                                       cmocka_unit_test(a_picture_gives_the_same_bits),
                                       cmocka_unit_test(a_few_features_have_the_same_bits),
                                       cmocka_unit_test(some_filters_have_the_same_bits),
                                       cmocka_unit_test(a_row_gives_the_same_bits),
                                       cmocka_unit_test(a_list_of_what_comes_next_keeps_to_its_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
