/* test_landscape.c - places in the space of a network's weights: sums of terms, and random directions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "examples/gradus/landscape/places.h"

enum { CONV, CONV_BIAS, NORM_SCALE, NORM_SHIFT, DENSE, DENSE_BIAS, MEAN, VARIANCE, STATES };

static gr_module *net_of(gr_context *ctx)
{
    gr_module *net = gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 4, .kernel = 3}),
                                   gr_batch_norm_layer(ctx, NULL), gr_flatten_layer(ctx),
                                   gr_dense_layer(ctx, &(gr_dense_options){.units = 3}), NULL);
    gr_module_build(net, 3, (int64_t[]){8, 8, 2});
    assert_int_equal(gr_state_count(net), STATES);
    assert_string_equal(gr_state_name(net, VARIANCE), "bn1.running_var");
    return net;
}

/* The norm of part i of n: rows of n parts, or columns of a matrix. */
static double norm(const double *values, int64_t count, int64_t n, int64_t i, bool columns)
{
    double sum = 0;
    for (int64_t j = 0; j < count; j++)
        if ((columns ? j % n : j / (count / n)) == i)
            sum += values[j] * values[j];
    return sqrt(sum);
}

/* Each filter and each unit as long as that of the weights, the rest 0; another seed is another direction. */
static void directions_are_as_long_as_filters(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.seed = 3});
    places p;
    places_open(&p, net_of(ctx));
    assert_true(places_take(&p) && places_draw(&p, 1) && places_draw(&p, 2));
    for (int which = 1; which < 3; which++) {
        const int64_t conv = gr_count(gr_state(p.net, CONV)), dense = gr_count(gr_state(p.net, DENSE));
        for (int64_t k = 0; k < 4; k++)
            assert_true(fabs(norm(p.terms[which][CONV], conv, 4, k, false) / norm(p.terms[0][CONV], conv, 4, k, false) -
                             1) < 1e-9);
        for (int64_t k = 0; k < 3; k++)
            assert_true(
                fabs(norm(p.terms[which][DENSE], dense, 3, k, true) / norm(p.terms[0][DENSE], dense, 3, k, true) - 1) <
                1e-9);
        for (int i = 0; i < STATES; i++)
            if (i != CONV && i != DENSE)
                assert_true(norm(p.terms[which][i], gr_count(gr_state(p.net, i)), 1, 0, false) == 0);
    }
    double product = 0;
    const int64_t n = gr_count(gr_state(p.net, DENSE));
    for (int64_t j = 0; j < n; j++)
        product += p.terms[1][DENSE][j] * p.terms[2][DENSE][j];
    assert_true(fabs(product) <
                0.4 * norm(p.terms[1][DENSE], n, 1, 0, false) * norm(p.terms[2][DENSE], n, 1, 0, false));
    places_close(&p);
    assert_int_equal(gr_close(ctx), 0);
}

/* At a term its own bits; between two the mean; a variance is never negative. */
static void places_are_sums(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.seed = 3});
    places p;
    places_open(&p, net_of(ctx));
    assert_true(places_take(&p) && places_draw(&p, 1));
    for (int64_t j = 0; j < 4; j++)
        p.terms[1][VARIANCE][j] = -3;
    assert_true(places_go(&p, (double[]){0.5, 0.5}) && places_take(&p));
    const int64_t n = gr_count(gr_state(p.net, CONV));
    for (int64_t j = 0; j < n; j++)
        assert_true(p.terms[2][CONV][j] == (float)((p.terms[0][CONV][j] + p.terms[1][CONV][j]) / 2));
    for (int64_t j = 0; j < 4; j++)
        assert_true(p.terms[0][VARIANCE][j] == 1 && p.terms[2][VARIANCE][j] == 0);
    assert_true(places_go(&p, (double[]){1, 0, 0}));
    places again;
    places_open(&again, p.net);
    assert_true(places_take(&again));
    for (int i = 0; i < STATES; i++)
        for (int64_t j = 0; j < gr_count(gr_state(p.net, i)); j++)
            assert_true(again.terms[0][i][j] == p.terms[0][i][j]);
    places_close(&again);
    places_close(&p);
    assert_int_equal(gr_close(ctx), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions_are_as_long_as_filters),
        cmocka_unit_test(places_are_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
