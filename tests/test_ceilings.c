/* test_ceilings.c - the measured limits of the machine: there for every device, in the memory that is allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "gradus.h"

static gr_ceilings measured(const gr_options *options)
{
    gr_context *ctx = gr_open(options);
    int64_t before = gr_memory_use(ctx).persistent;
    gr_ceilings c = gr_measure_ceilings(ctx);
    assert_true(gr_ok(ctx));
    assert_int_equal(gr_memory_use(ctx).persistent, before);
    assert_int_equal(gr_close(ctx), 0);
    return c;
}

/* Between what no machine that this runs on falls below and what none reaches: units, not figures. */
static void is_plausible(gr_ceilings c)
{
    assert_true(c.flops > 1e7 && c.flops < 1e15);
    assert_true(c.read > 1e7 && c.read < 1e14);
    assert_true(c.copy > 1e7 && c.copy < 1e14);
}

static void every_device_has_limits(void **state)
{
    (void)state;
    is_plausible(measured(&(gr_options){.device = "cpu", .threads = 3}));
    is_plausible(measured(&(gr_options){.device = "ref"}));
    is_plausible(measured(&(gr_options){.device = "ref", .precision = GR_PRECISION_FP32}));
}

#ifdef __SANITIZE_ADDRESS__
#define LEAD 0 /* its own work hides that of AVX2 */
#else
#define LEAD 1.5
#endif

/* The widest vectors do more at once: measured on one thread, in turns, the best of two each. */
static void wider_vectors_do_more(void **state)
{
    (void)state;
    double best[2] = {0};
    for (int i = 0; i < 4; i++) {
        if (i % 2)
            unsetenv("GRADUS_CPU");
        else
            setenv("GRADUS_CPU", "plain", 1);
        double flops = measured(&(gr_options){.threads = 1}).flops;
        best[i % 2] = flops > best[i % 2] ? flops : best[i % 2];
    }
    gr_context *ctx = gr_open(NULL);
    const bool wider = strcmp(gr_isa_name(ctx), "plain") != 0;
    gr_close(ctx);
    assert_true(!wider || best[1] > LEAD * best[0]);
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.memory_limit = 200 << 20});
    int64_t before = gr_memory_use(ctx).persistent;
    assert_true(gr_measure_ceilings(ctx).flops == 0);
    assert_int_equal(gr_error_code(ctx), GR_NO_MEMORY);
    assert_int_equal(gr_memory_use(ctx).persistent, before);
    assert_true(gr_measure_ceilings(ctx).copy == 0); /* the error stands */
    gr_close(ctx);
    ctx = gr_open(&(gr_options){.plan_only = true});
    assert_true(gr_measure_ceilings(ctx).flops == 0);
    assert_true(gr_ok(ctx));
    gr_close(ctx);
    assert_true(gr_measure_ceilings(NULL).read == 0);
}

static void operations_have_names(void **state)
{
    (void)state;
    bool conv = false;
    for (int i = 0; i < gr_op_count(); i++) {
        assert_non_null(gr_op_name(i));
        conv |= strcmp(gr_op_name(i), "conv2d") == 0;
    }
    assert_true(conv);
    assert_null(gr_op_name(-1));
    assert_null(gr_op_name(gr_op_count()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_device_has_limits),
        cmocka_unit_test(wider_vectors_do_more),
        cmocka_unit_test(no_memory_is_an_error),
        cmocka_unit_test(operations_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
