/* test_compositions.c - functions that are made of other operations: values and gradients by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "gradus.h"

enum { N = 6 };

static const double x[N] = {0.5, -1, 2, 0.25, 3, -0.125}, y[N] = {1, 2, -1, 0.25, -2, 4};

/* The two tensors [2,3], with gradients. */
typedef struct {
    gr_context *ctx;
    gr_tensor *a, *b;
} pair;

static pair open_pair(void)
{
    pair p = {.ctx = gr_open(&(gr_options){.device = "ref"})};
    p.a = gr_variable(p.ctx, 2, (int64_t[]){2, 3});
    p.b = gr_variable(p.ctx, 2, (int64_t[]){2, 3});
    assert_true(gr_upload(p.a, x) && gr_upload(p.b, y));
    return p;
}

static void close_pair(pair *p)
{
    assert_string_equal(gr_error_text(p->ctx), "");
    assert_int_equal(gr_close(p->ctx), 0);
}

static void near(double got, double want)
{
    assert_true(fabs(got - want) < 1e-12);
}

static void difference(void **state)
{
    (void)state;
    pair p = open_pair();
    double values[N], da[N], db[N];
    gr_tensor *d = gr_sub(p.a, p.b);
    gr_download(d, values);
    gr_backward(gr_sum(gr_mul(d, p.a))); /* sum (a - b) a: 2 a - b, -a */
    gr_download(gr_grad(p.a), da);
    gr_download(gr_grad(p.b), db);
    for (int i = 0; i < N; i++) {
        near(values[i], x[i] - y[i]);
        near(da[i], 2 * x[i] - y[i]);
        near(db[i], -x[i]);
    }
    close_pair(&p);
}

static void mean_squared_error(void **state)
{
    (void)state;
    pair p = open_pair();
    double expected = 0, da[N], db[N];
    for (int i = 0; i < N; i++)
        expected += (x[i] - y[i]) * (x[i] - y[i]) / N;
    gr_tensor *loss = gr_mse(p.a, p.b);
    near(gr_item(loss), expected);
    gr_backward(loss);
    gr_download(gr_grad(p.a), da);
    gr_download(gr_grad(p.b), db);
    for (int i = 0; i < N; i++) {
        near(da[i], 2 * (x[i] - y[i]) / N);
        near(db[i], -2 * (x[i] - y[i]) / N);
    }
    close_pair(&p);
}

/* [2,3] times [3,2], and the mean of its elements. */
static void product_of_matrices(void **state)
{
    (void)state;
    pair p = open_pair();
    double values[4], da[N], db[N];
    gr_tensor *product = gr_matmul(p.a, gr_reshape(p.b, 2, (int64_t[]){3, 2}));
    gr_download(product, values);
    gr_backward(gr_mean(product));
    gr_download(gr_grad(p.a), da);
    gr_download(gr_grad(p.b), db);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            near(values[2 * i + j], x[3 * i] * y[j] + x[3 * i + 1] * y[2 + j] + x[3 * i + 2] * y[4 + j]);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            near(da[3 * i + k], (y[2 * k] + y[2 * k + 1]) / 4);
            near(db[2 * k + i], (x[k] + x[3 + k]) / 4);
        }
    close_pair(&p);
}

/* Under a loss scale gradients come out as large as without: sum, mean and mse are losses. */
static void losses_under_a_loss_scale(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.precision = GR_PRECISION_FP16});
    gr_tensor *w = gr_variable(ctx, 1, (int64_t[]){4}), *t = gr_tensor_new(ctx, GR_F32, 1, (int64_t[]){4});
    gr_upload(w, (float[]){1, 2, 3, 4});
    const float scale = (float)gr_loss_scaling(ctx).scale;
    const float slopes[][4] = {{1, 1, 1, 1}, {0.25f, 0.25f, 0.25f, 0.25f}, {0.5f, 1, 1.5f, 2}};
    for (int i = 0; i < 3; i++) {
        float d[4];
        gr_clear_gradients(ctx);
        gr_tensor *loss = i == 0 ? gr_sum(w) : i == 1 ? gr_mean(w) : gr_mse(w, t);
        assert_true(gr_backward(loss) && gr_download(gr_grad(w), d));
        for (int k = 0; k < 4; k++)
            assert_true(d[k] == slopes[i][k] * scale);
        gr_step_end(ctx);
    }
    assert_int_equal(gr_close(ctx), 0);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    pair p = open_pair();
    assert_null(gr_matmul(p.a, p.b));
    assert_int_equal(gr_error_code(p.ctx), GR_USAGE);
    gr_clear_error(p.ctx);
    assert_null(gr_mse(p.a, NULL));
    assert_null(gr_sub(NULL, p.b));
    close_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(difference),
        cmocka_unit_test(mean_squared_error),
        cmocka_unit_test(product_of_matrices),
        cmocka_unit_test(losses_under_a_loss_scale),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
