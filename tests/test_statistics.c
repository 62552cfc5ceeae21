/* test_statistics.c - the tool's statistics against numbers from tables and worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "examples/gradus/compare/pairs.h"

static void near(double x, double want, double within)
{
    if (!(fabs(x - want) <= within))
        print_error("%.10g, expected %.10g\n", x, want);
    assert_true(fabs(x - want) <= within);
}

/* Tables of Student's t, two-sided. */
static void student_t(void **state)
{
    (void)state;
    near(student_t_975(1), 12.7062, 1e-4);
    near(student_t_975(4), 2.776445, 1e-6);
    near(student_t_975(30), 2.042272, 1e-6);
    near(student_t_beyond(12.7062, 1), 0.05, 1e-6);
    near(student_t_beyond(4.302653, 2), 0.05, 1e-7);
    near(student_t_beyond(2, 2), 1 - 2 / sqrt(6), 1e-12); /* 1 - t / sqrt(2 + t^2) */
    near(student_t_beyond(1, 1), 0.5, 1e-12);             /* 1 - 2 atan(t) / pi */
    near(student_t_beyond(4.604095, 4), 0.01, 1e-7);
}

/* 1, 2, 3, 4, 5: mean 3, deviation sqrt(2.5), t = 3 / sqrt(0.5) = 4.2426 with 4 degrees of freedom. */
static void samples(void **state)
{
    (void)state;
    sample s = {0}, one = {0}, same = {0};
    for (int i = 1; i <= 5; i++)
        sample_add(&s, i);
    near(sample_deviation(&s), sqrt(2.5), 1e-12);
    near(sample_half_width(&s), 2.776445 * sqrt(0.5), 1e-6);
    const double c2 = 1 / (1 + 4.5), sine = sqrt(1 - c2); /* of the angle atan(4.2426 / 2) */
    near(sample_p(&s), 1 - sine * (1 + c2 / 2), 1e-12);
    sample_add(&one, 7);
    assert_true(isnan(sample_p(&one)) && isnan(sample_half_width(&one)) && isnan(sample_deviation(&one)));
    sample_add(&same, 0);
    sample_add(&same, 0);
    near(sample_p(&same), 1, 0);
    sample_add(&one, 7);
    near(sample_p(&one), 0, 0);
}

static void holms_correction(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, 0.03, 0.005}, corrected[4];
    holm(p, corrected, 4); /* sorted: 4 x 0.005, 3 x 0.01, 2 x 0.03, and 1 x 0.04, which is below the one before */
    near(corrected[0], 0.03, 1e-15);
    near(corrected[1], 0.06, 1e-15);
    near(corrected[2], 0.06, 1e-15);
    near(corrected[3], 0.02, 1e-15);
    double some[] = {0.6, NAN, 0.6};
    holm(some, corrected, 3);
    near(corrected[0], 1, 0);
    assert_true(isnan(corrected[1]));
    near(corrected[2], 1, 0);
    double alone[] = {0.04};
    holm(alone, corrected, 1);
    near(corrected[0], 0.04, 0);
}

/* Sample sizes of the one-sample t test at 5 % with power 0.8, as tables have them for effects of 0.5 and 1. */
static void values_that_are_needed(void **state)
{
    (void)state;
    assert_int_equal(values_needed(2, 1), 34);
    assert_int_equal(values_needed(1, 1), 10);
    assert_int_equal(values_needed(0, 1), 2);
    assert_int_equal(values_needed(100, 1), 78489); /* (1.959964 + 0.841621)^2 100^2 */
    assert_int_equal(values_needed(1e9, 1), 1000000);
}

/* Three seeds at two batch sizes are three values, not six; a seed without one of the batch sizes is left out. */
static void pairs_by_seed(void **state)
{
    (void)state;
    pair pairs[] = {{2, 16, 4}, {1, 32, 3}, {3, 16, 5}, {1, 16, 1}, {2, 32, 2}, {3, 32, -1}, {4, 16, 90}};
    const paired p = pairs_compare(pairs, 7);
    assert_int_equal(p.differences.n, 3);
    assert_int_equal(p.batches, 2);
    assert_int_equal(p.left_out, 1);
    near(p.differences.mean, (2 + 3 + 2) / 3.0, 1e-12);
    near(sample_half_width(&p.differences), 4.302653 * sqrt(1 / 3.0 / 3), 1e-6); /* deviation sqrt(1/3) */
    const paired none = pairs_compare(pairs, 0);
    assert_int_equal(none.differences.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_t),        cmocka_unit_test(samples),
        cmocka_unit_test(holms_correction), cmocka_unit_test(values_that_are_needed),
        cmocka_unit_test(pairs_by_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
