/*
 * test_arrivals.c - contexts of one GPU that work at the same time: none counts the blocks of another's kernels. What
 * each makes of products whose last blocks add up what all have left (kernels/cuda/arrival.cuh) has the bits of one
 * that works alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "gradus.h"

/* One tile, whose depth is split on any GPU of more than one multiprocessor. */
enum { ROWS = 4, DEPTH = 512, COLUMNS = 32, PRODUCTS = 40, CONTEXTS = 2 };

static float x[ROWS * DEPTH], w[DEPTH * COLUMNS], alone[ROWS * COLUMNS];

typedef struct {
    float y[ROWS * COLUMNS];
    int wrong; /* products that had other bits than the first; -1: an error */
} answer;

static void *many_products(void *to)
{
    answer *a = to;
    float y[ROWS * COLUMNS];
    gr_context *ctx = gr_open(&(gr_options){.device = "simt"});
    gr_tensor *left = gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){ROWS, DEPTH});
    gr_tensor *right = gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){DEPTH, COLUMNS});
    bool good = gr_upload(left, x) && gr_upload(right, w);
    for (int i = 0; i < PRODUCTS && good; i++) {
        good = gr_download(gr_dense(left, right, NULL, NULL), i ? y : a->y);
        a->wrong += i && memcmp(y, a->y, sizeof y) != 0;
        gr_step_end(ctx);
    }
    if (gr_close(ctx) != GR_OK || !good)
        a->wrong = -1;
    return NULL;
}

static int fill(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS * DEPTH; i++)
        x[i] = (float)sin(1.7 * i);
    for (int i = 0; i < DEPTH * COLUMNS; i++)
        w[i] = (float)cos(0.3 * i);
    answer a = {.wrong = 0};
    many_products(&a);
    memcpy(alone, a.y, sizeof alone);
    return a.wrong;
}

static void contexts_count_blocks_each_for_itself(void **state)
{
    pthread_t thread[CONTEXTS];
    answer a[CONTEXTS] = {0};
    (void)state;
    for (int i = 0; i < CONTEXTS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, many_products, &a[i]), 0);
    for (int i = 0; i < CONTEXTS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < CONTEXTS; i++) {
        assert_int_equal(a[i].wrong, 0);
        assert_memory_equal(a[i].y, alone, sizeof alone);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(contexts_count_blocks_each_for_itself)};
    return cmocka_run_group_tests(tests, fill, NULL);
}
