/* test_grids.c - a call that wants more blocks than a grid has in its second dimension. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>

#include "gradus.h"

enum { GROUP = 32 /* filters of a block */, FILTERS = 65535 * GROUP + 1, TAPS = 9 };

/* The weights of filter k, all of them. */
static float weight(int k)
{
    return (float)(k % 7 - 3);
}

/* Four pixels of 1 behind a padding: every window sees all of them. */
static void more_groups_of_filters_than_rows_of_a_grid(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.device = "cuda"});
    gr_tensor *x = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){1, 2, 2, 1}),
              *w = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){FILTERS, 3, 3, 1});
    float *weights = malloc(sizeof *weights * FILTERS * TAPS), *y = malloc(sizeof *y * FILTERS);
    for (int i = 0; i < FILTERS * TAPS; i++)
        weights[i] = weight(i / TAPS);
    gr_upload(x, (float[]){1, 1, 1, 1});
    gr_upload(w, weights);
    gr_download(gr_conv2d_relu_max_pool(
                    x, w, NULL, &(gr_conv2d_relu_max_pool_args){.conv.window.padding = GR_SAME, .pool.size = {2, 2}}),
                y);
    assert_string_equal(gr_error_text(ctx), "");
    for (int k = 0; k < FILTERS; k++)
        if (y[k] != (weight(k) > 0 ? 4 * weight(k) : 0))
            fail_msg("filter %d: %g", k, (double)y[k]);
    free(weights);
    free(y);
    gr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(more_groups_of_filters_than_rows_of_a_grid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
