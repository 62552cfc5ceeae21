/* test_widen.c - halves by the kernels for floats: where the slices of a call begin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdint.h>
#include <string.h>

#include "core/context.h"
#include "gradus.h"
#include "kernels/ops/kernels.h"

enum { AT_ONCE = 4 }; /* halves that a kernel may read together */

static gr_kernel kernels[GR_OP_COUNT];
static gr_kernel_fn cast;
static int misaligned, casts;

static void look(const gr_tensor *t)
{
    if (t->type == GR_F16)
        misaligned += (uintptr_t)t->data % (AT_ONCE * gr_type_size(t->type)) != 0;
}

static void cast_and_look(const gr_call *call)
{
    look(call->in[0]);
    look(call->out[0]);
    casts++;
    cast(call);
}

/* A sample of an odd number of elements is a slice by itself, and the second one lies behind the first. */
static void slices_begin_where_four_halves_may_be_read(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .precision = GR_PRECISION_FP16});
    memcpy(kernels, ctx->device->kernels, sizeof kernels);
    cast = kernels[GR_OP_cast].forward;
    kernels[GR_OP_cast].forward = cast_and_look;
    ctx->device->kernels = kernels;
    gr_tensor *x = gr_variable(ctx, 4, (int64_t[]){5, 1025, 1025, 1}),
              *w = gr_variable(ctx, 4, (int64_t[]){1, 1, 1, 1});
    const gr_conv2d_relu_max_pool_args args = {.pool = {.size = {3, 3}, .window = {.stride = {2, 2}}}};
    gr_tensor *y = gr_conv2d_relu_max_pool(x, w, NULL, &args);
    assert_true(gr_backward(gr_l2_penalty(y, 1)));
    assert_true(casts > 4);
    assert_int_equal(misaligned, 0);
    gr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slices_begin_where_four_halves_may_be_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
