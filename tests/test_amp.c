/*
 * test_amp.c - mixed precision: what is half, casts once a step, the loss scale, skipped updates, the stuck scale; and
 * tf32, and bf16x3 and bf16x6: what is rounded or left out, who refuses it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gradus.h"
#include "nn/module.h"
#include "optim/optimizer.h"
#include "tests/open_on_isa.h"

enum { SIDE = 12, IMAGES = 80, BATCH = 20 };

/* Of these SGD and Adam fuse the dense layers' updates with their backward pass. */
typedef enum { MOMENTUM, SGD, ADAM, PROX, KINDS } kind;

/* With everything that reduces: batch normalisation, a residual block, pooling, dense layers. */
static gr_module *net_of(gr_context *ctx)
{
    const gr_conv2d_options conv = {
        .filters = 12, .kernel = 3, .padding = GR_SAME, .init = GR_HE_UNIFORM, .no_bias = true};
    gr_module *body = gr_sequential(ctx, gr_conv2d_layer(ctx, &conv), gr_batch_norm_layer(ctx, NULL), NULL);
    return gr_sequential(ctx, gr_conv2d_layer(ctx, &conv), gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx),
                         gr_residual(ctx, body, NULL), gr_max_pool2d_layer(ctx, 2), gr_flatten_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 9, .init = GR_HE_UNIFORM}),
                         gr_relu_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
}

typedef struct {
    gr_context *ctx;
    gr_module *net;
    gr_optimizer *opt;
    gr_loader *loader;
} session;

static gr_optimizer *optimizer_of(gr_context *ctx, gr_module *net, kind k)
{
    return k == ADAM   ? gr_adam(ctx, net, &(gr_adam_options){.lr = 0.003})
           : k == PROX ? gr_prox(ctx, net, &(gr_prox_options){.lr = 0.05, .steps = 3})
                       : gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.002, .momentum = k == MOMENTUM ? 0.9 : 0});
}

static session open_session(const char *device, gr_precision precision, kind k)
{
    session s = {.ctx = gr_open(&(gr_options){.device = device, .precision = precision, .seed = 3})};
    s.net = net_of(s.ctx);
    s.opt = optimizer_of(s.ctx, s.net, k);
    s.loader = gr_loader_open(gr_procedural(s.ctx, IMAGES, SIDE, SIDE, 1),
                              &(gr_loader_options){.batch = BATCH, .order = GR_IN_ORDER});
    assert_true(gr_ok(s.ctx));
    return s;
}

static void close_session(session *s)
{
    gr_loader_close(s->loader);
    assert_int_equal(gr_close(s->ctx), 0);
}

static bool next_batch(session *s, gr_batch *batch)
{
    return gr_loader_next(s->loader, batch) || gr_loader_next(s->loader, batch); /* an epoch's end, then the next one */
}

/* One pass over a batch; its loss. */
static double pass(session *s, const gr_batch *batch)
{
    gr_tensor *loss = gr_loss(gr_forward(s->net, batch->x), batch);
    gr_minimize(s->opt, loss);
    const double value = gr_item(loss);
    gr_step_end(s->ctx);
    assert_true(gr_ok(s->ctx));
    return value;
}

/* One update, its pass number large (-1: none) under a loss scale that is too large; the loss of its last pass. */
static double overflowing_update(session *s, int large)
{
    gr_batch batch;
    double loss = 0;
    assert_true(next_batch(s, &batch));
    for (int i = 0; i < gr_optimizer_passes(s->opt); i++) {
        if (i > 0) {
            gr_loader_again(s->loader);
            assert_true(gr_loader_next(s->loader, &batch));
        }
        if (i == large)
            gr_set_loss_scale(s->ctx, 0x1p24);
        loss = pass(s, &batch);
    }
    return loss;
}

static double update(session *s)
{
    return overflowing_update(s, -1);
}

/* Weights, moments and running statistics, one behind the other. */
static float *everything(const session *s, int64_t *count)
{
    const gr_parameters *p = s->net->parameters;
    const gr_slab *statistics = p->statistics->slab;
    const gr_tensor *slabs[] = {p->slab->values, statistics ? statistics->values : NULL, s->opt->moments[0],
                                s->opt->moments[1]};
    float *all = NULL;
    *count = 0;
    for (size_t i = 0; i < sizeof slabs / sizeof *slabs; i++) {
        if (!slabs[i])
            continue;
        all = realloc(all, (size_t)(*count + gr_count(slabs[i])) * sizeof *all);
        assert_non_null(all);
        assert_true(gr_download(slabs[i], all + *count));
        *count += gr_count(slabs[i]);
    }
    return all;
}

static void assert_same(const session *a, const session *b)
{
    int64_t n, m;
    float *x = everything(a, &n), *y = everything(b, &m);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, (size_t)n * sizeof *x);
    free(x);
    free(y);
}

/* Results that a pass forward and backward through net_of rounds to halves. */
enum { ROUNDINGS = 15 };

/*
 * How far the losses of two sessions' updates lie apart, at most, in units of sqrt(K), K being the roundings to halves
 * that went into a loss. As in the table, errors of K roundings add up as a random walk does, to eps/2 sqrt(K)
 * where each may come out one way or the other; that updates feed them back is not in it, so the rate is low. Two
 * devices round the same numbers but for the last bits of floats, and so stay far inside it.
 */
static double distance(session a, session b, int updates)
{
    double most = 0;
    for (int i = 1; i <= updates; i++) {
        const double x = update(&a), y = update(&b);
        most = fmax(most, fabs(x - y) / (fabs(y) + 0.1) / sqrt(ROUNDINGS * i));
    }
    close_session(&a);
    close_session(&b);
    return most;
}

static double epsilon(gr_precision precision)
{
    return precision == GR_PRECISION_FP16 ? 0x1p-10 : 0x1p-7;
}

enum { UPDATES = 20, EMULATED = 8 /* where a GPU is played, which takes long */ };

/* Halves train as floats do: other roundings, all of them, the same course. They are not floats in disguise, either. */
static void halves_follow_floats(void **state)
{
    (void)state;
    for (gr_precision half = GR_PRECISION_FP16; half <= GR_PRECISION_BF16; half++) {
        const double d =
            distance(open_session("cpu", half, MOMENTUM), open_session("cpu", GR_PRECISION_FP32, MOMENTUM), UPDATES);
        assert_true(d > epsilon(half) / 64);
        assert_true(d < 2 * epsilon(half));
    }
}

/* The kernels for GPUs, on the emulator, train as the CPU's do. */
static void simt_follows_cpu(void **state)
{
    (void)state;
    assert_true(distance(open_session("simt", GR_PRECISION_FP16, ADAM), open_session("cpu", GR_PRECISION_FP16, ADAM),
                         EMULATED) < epsilon(GR_PRECISION_FP16) / 2);
}

/* ref in floats, with double sums. */
static void cpu_follows_ref(void **state)
{
    (void)state;
    for (gr_precision half = GR_PRECISION_FP16; half <= GR_PRECISION_BF16; half++)
        assert_true(distance(open_session("ref", half, MOMENTUM), open_session("cpu", half, MOMENTUM), UPDATES) <
                    epsilon(half) / 2);
}

/* What a product is made of, its gradients. */
typedef struct {
    float y, dx, dw, db;
} answer;

/* x, w and dY are single numbers, whatever the operation: a filter of 1 x 1, one image of one pixel. */
static answer multiplied(gr_context *ctx, int op, float x, float w, float dy)
{
    const int ndim = op == 0 ? 2 : 4;
    const int64_t one[4] = {1, 1, 1, 1};
    gr_tensor *in[] = {gr_variable(ctx, ndim, one), gr_variable(ctx, ndim, one), gr_variable(ctx, 1, one)};
    assert_true(gr_upload(in[0], &x) && gr_upload(in[1], &w) && gr_upload(in[2], &(float){0}));
    gr_tensor *y =
        op == 0   ? gr_dense(in[0], in[1], in[2], NULL)
        : op == 1 ? gr_conv2d(in[0], in[1], in[2], NULL)
                  : gr_conv2d_relu_max_pool(in[0], in[1], in[2], &(gr_conv2d_relu_max_pool_args){.pool.size = {1, 1}});
    gr_tensor *from = gr_tensor_new(ctx, GR_F32, ndim, one);
    answer a;
    assert_true(gr_upload(from, &dy) && gr_backward_from(y, from));
    assert_true(gr_download(y, &a.y) && gr_download(gr_grad(in[0]), &a.dx) && gr_download(gr_grad(in[1]), &a.dw) &&
                gr_download(gr_grad(in[2]), &a.db));
    gr_step_end(ctx);
    return a;
}

/*
 * Of a float's 23 bits of fraction a factor keeps 10: 1 + 2^-11 lies in the middle and becomes 1 + 2^-10, what is
 * nearer to 1 becomes 1. Nothing but factors is rounded: not what the gradient of a bias is made of, and not what is
 * stored.
 */
static void factors_are_rounded_to_tf32(void **state)
{
    (void)state;
    const float tie = 1 + 0x1p-11f, above = 1 + 0x1p-10f, near = 1 + 0x1.fp-12f, odd = 3 + 0x1p-22f;
    gr_context *tf32 = gr_open(&(gr_options){.device = "simt", .precision = GR_PRECISION_TF32});
    gr_context *fp32 = gr_open(&(gr_options){.device = "simt"});
    assert_string_equal(gr_precision_name(tf32), "tf32");
    assert_string_equal(gr_precision_name(fp32), "fp32");
    assert_int_equal(gr_compute_type(tf32), GR_F32);
    for (int op = 0; op < 3; op++) {
        const answer a = multiplied(tf32, op, tie, near, odd), b = multiplied(fp32, op, tie, near, odd);
        assert_true(a.y == above && a.dx == 3 && a.dw == 3 * above && a.db == odd);
        assert_true(b.y == tie * near && b.dx == odd * near && b.dw == odd * tie && b.db == odd);
        const answer c = multiplied(tf32, op, -tie, -near, 1), d = multiplied(tf32, op, above, 1, near);
        assert_true(c.y == above && c.dx == -1 && c.dw == -above && c.db == 1);
        assert_true(d.y == above && d.dx == 1 && d.dw == above && d.db == near);
    }
    assert_int_equal(gr_close(tf32), 0);
    assert_int_equal(gr_close(fp32), 0);
}

/* A NaN whose bits are all among those that go is one; what rounds up to 2^128 is infinite. */
static void what_is_not_finite_stays_so_in_tf32(void **state)
{
    (void)state;
    const uint32_t bits = 0x7F800001;
    float nan;
    memcpy(&nan, &bits, sizeof nan);
    gr_context *ctx = gr_open(&(gr_options){.device = "simt", .precision = GR_PRECISION_TF32});
    for (int op = 0; op < 3; op++) {
        assert_true(isnan(multiplied(ctx, op, nan, 1, 1).y));
        assert_true(isnan(multiplied(ctx, op, 1, nan, 1).y));
        assert_true(multiplied(ctx, op, INFINITY, 1, 1).y == INFINITY);
        assert_true(multiplied(ctx, op, 1, 1, -INFINITY).dx == -INFINITY);
        assert_true(multiplied(ctx, op, 0x1.fffp127f, 1, 1).y == INFINITY);
        assert_true(multiplied(ctx, op, 0x1.ffcp127f, 1, 1).y == 0x1.ffcp127f);
    }
    assert_int_equal(gr_close(ctx), 0);
}

/* Tensor cores are where there are any; elsewhere nobody computes in something else without a word. */
static void tf32_is_refused_where_there_is_none(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        gr_context *ctx = gr_open(&(gr_options){.device = i ? "ref" : "cpu", .precision = GR_PRECISION_TF32});
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        assert_non_null(strstr(gr_error_text(ctx), "tf32"));
        assert_non_null(strstr(gr_error_text(ctx), "use fp32, or the device cuda"));
        gr_close(ctx);
    }
    gr_context *ctx = gr_open(&(gr_options){.device = "simt", .precision = GR_PRECISION_BF16X6 + 1});
    assert_non_null(strstr(gr_error_text(ctx), "GR_PRECISION_TF32"));
    assert_int_equal(gr_close(ctx), GR_USAGE);
}

/* Factors of 10 bits: nearer to floats than fp16, which rounds what it stores as well, but not the same. */
static void tf32_follows_floats(void **state)
{
    (void)state;
    const double d =
        distance(open_session("simt", GR_PRECISION_TF32, ADAM), open_session("cpu", GR_PRECISION_FP32, ADAM), EMULATED);
    assert_true(d > 0x1p-10 / 64);
    assert_true(d < 0x1p-10);
}

/*
 * 1 + 2^-9 is two pieces, and the product of second ones is what bf16x3 leaves out; 2^-18 more is a third piece, which
 * it does not have.
 */
static void factors_are_split_into_pieces(void **state)
{
    (void)state;
    const float two = 1 + 0x1p-9f, three = two + 0x1p-18f;
    gr_context *x3 = open_on_isa("amx-emulated", &(gr_options){.precision = GR_PRECISION_BF16X3});
    gr_context *x6 = open_on_isa("amx-emulated", &(gr_options){.precision = GR_PRECISION_BF16X6});
    assert_string_equal(gr_precision_name(x3), "bf16x3");
    assert_string_equal(gr_precision_name(x6), "bf16x6");
    assert_int_equal(gr_compute_type(x6), GR_F32);
    for (int op = 0; op < 2; op++) {
        const answer a = multiplied(x3, op, two, two, two), b = multiplied(x6, op, two, two, two);
        assert_true(a.y == 1 + 0x1p-8f && a.dx == a.y && a.dw == a.y && a.db == two);
        assert_true(b.y == two * two && b.dx == b.y && b.dw == b.y && b.db == two);
        assert_true(multiplied(x3, op, three, 1, 1).y == two && multiplied(x3, op, 1, 1, three).db == three);
        const answer c = multiplied(x6, op, three, 1, three), d = multiplied(x6, op, 1, -three, three);
        assert_true(c.y == three && c.dx == three && c.db == three && d.y == -three && d.dw == three);
    }
    assert_int_equal(gr_close(x3), 0);
    assert_int_equal(gr_close(x6), 0);
}

/* Pieces of other signs, and those that are zero, meet no infinity; the largest float has pieces that are finite. */
static void what_is_not_finite_stays_so_in_pieces(void **state)
{
    (void)state;
    for (gr_precision precision = GR_PRECISION_BF16X3; precision <= GR_PRECISION_BF16X6; precision++) {
        gr_context *ctx = open_on_isa("amx-emulated", &(gr_options){.precision = precision});
        for (int op = 0; op < 2; op++) {
            assert_true(multiplied(ctx, op, INFINITY, 1, 1).y == INFINITY);
            assert_true(multiplied(ctx, op, 1.9999f, -INFINITY, 1).y == -INFINITY);
            assert_true(multiplied(ctx, op, INFINITY, -INFINITY, 1000.3f).y == -INFINITY);
            assert_true(multiplied(ctx, op, 1, -1000.3f, INFINITY).dx == -INFINITY);
            assert_true(isnan(multiplied(ctx, op, INFINITY, 0, 1).y));
            assert_true(isnan(multiplied(ctx, op, 1, 1, NAN).dx) && isnan(multiplied(ctx, op, NAN, 0, 1).y));
            assert_true(multiplied(ctx, op, 0x1.ff8p127f, 1, 1).y == 0x1.ff8p127f);
            assert_true(precision == GR_PRECISION_BF16X3 || multiplied(ctx, op, FLT_MAX, 1, 1).y == FLT_MAX);
        }
        assert_int_equal(gr_close(ctx), 0);
    }
}

static void pieces_are_refused_where_there_are_no_tiles(void **state)
{
    (void)state;
    for (gr_precision precision = GR_PRECISION_BF16X3; precision <= GR_PRECISION_BF16X6; precision++) {
        gr_context *plain = open_on_isa("plain", &(gr_options){.precision = precision});
        gr_context *pairs = open_on_isa("bf16-emulated", &(gr_options){.precision = precision});
        gr_context *ref = gr_open(&(gr_options){.device = "ref", .precision = precision});
        gr_context *simt = gr_open(&(gr_options){.device = "simt", .precision = precision});
        assert_non_null(strstr(gr_error_text(plain), "use fp32, or GRADUS_CPU=amx-emulated"));
        assert_non_null(strstr(gr_error_text(pairs), "use fp32, or GRADUS_CPU=amx-emulated"));
        assert_non_null(strstr(gr_error_text(ref), "use fp32, or the device cpu"));
        assert_non_null(strstr(gr_error_text(simt), "use fp32, or the device cpu"));
        assert_int_equal(gr_close(plain), GR_USAGE);
        assert_int_equal(gr_close(pairs), GR_USAGE);
        assert_int_equal(gr_close(ref), GR_USAGE);
        assert_int_equal(gr_close(simt), GR_USAGE);
    }
}

/* Activations are halves, parameters and their gradients floats; the loss is a float. */
static void types_are_the_policy(void **state)
{
    (void)state;
    session s = open_session("cpu", GR_PRECISION_BF16, MOMENTUM);
    gr_batch batch;
    assert_true(next_batch(&s, &batch));
    gr_tensor *z = gr_forward(s.net, batch.x), *loss = gr_loss(z, &batch);
    assert_int_equal(gr_type_of(batch.x), GR_BF16);
    assert_int_equal(gr_type_of(z), GR_BF16);
    assert_int_equal(gr_type_of(loss), GR_F32);
    assert_int_equal(gr_compute_type(s.ctx), GR_BF16);
    assert_int_equal(gr_real(s.ctx), GR_F32);
    assert_true(gr_backward(loss));
    for (int i = 0; i < gr_parameter_count(s.net); i++) {
        assert_int_equal(gr_type_of(gr_parameter(s.net, i)), GR_F32);
        assert_int_equal(gr_type_of(gr_grad(gr_parameter(s.net, i))), GR_F32);
    }
    close_session(&s);
}

/* A leaf is of the type that is asked for, and so is its gradient: what a layer between others sees, or a parameter. */
static void leaves_have_gradients_of_their_type(void **state)
{
    (void)state;
    const gr_precision both[] = {GR_PRECISION_FP32, GR_PRECISION_BF16};
    for (int i = 0; i < 2; i++) {
        gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .precision = both[i]});
        gr_tensor *x = gr_activation(ctx, 2, (int64_t[]){3, 4}), *w = gr_variable(ctx, 2, (int64_t[]){4, 5});
        gr_tensor *y = gr_dense(x, w, NULL, NULL), *dy = gr_tensor_new(ctx, gr_compute_type(ctx), 2, (int64_t[]){3, 5});
        assert_true(gr_backward_from(y, dy));
        assert_int_equal(gr_type_of(x), gr_compute_type(ctx));
        assert_int_equal(gr_type_of(gr_grad(x)), gr_compute_type(ctx));
        assert_int_equal(gr_type_of(w), GR_F32);
        assert_int_equal(gr_type_of(gr_grad(w)), GR_F32);
        gr_step_end(ctx);
        assert_int_equal(gr_close(ctx), 0);
    }
}

static void count_casts(void *user, const gr_trace_event *event)
{
    *(int *)user += !strcmp(event->op, "cast");
}

/* The cpu device makes no copy of the weights at all. */
static void weights_are_rounded_as_they_are_read(void **state)
{
    (void)state;
    session s = open_session("cpu", GR_PRECISION_FP16, SGD);
    int casts = 0;
    gr_trace(s.ctx, count_casts, &casts);
    update(&s);
    assert_int_equal(casts, 0);
    assert_null(s.net->parameters->slab->halves);
    close_session(&s);
}

/*
 * All weights in one cast, which steps then keep up to date (test_half_copies.c); a float that is used twice is cast
 * once a step.
 */
static void each_tensor_is_cast_once_a_step(void **state)
{
    (void)state;
    session s = open_session("simt", GR_PRECISION_FP16, MOMENTUM);
    int casts = 0;
    gr_trace(s.ctx, count_casts, &casts);
    update(&s);
    assert_int_equal(casts, 1);
    update(&s);
    assert_int_equal(casts, 1);
    gr_tensor *x = gr_variable(s.ctx, 2, (int64_t[]){3, 4}), *w = gr_variable(s.ctx, 2, (int64_t[]){4, 4});
    gr_dense(gr_dense(x, w, NULL, NULL), w, NULL, NULL);
    gr_dense(x, w, NULL, NULL);
    assert_int_equal(casts, 3);
    gr_step_end(s.ctx);
    gr_dense(x, w, NULL, NULL);
    assert_int_equal(casts, 5);
    gr_step_end(s.ctx);
    close_session(&s);
}

/* New weights count at once, although their copies were made before. */
static void uploaded_weights_are_cast_again(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.device = "simt", .precision = GR_PRECISION_FP16});
    gr_module *net = gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = 1, .no_bias = true}), NULL);
    gr_tensor *x = gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){1, 1});
    assert_true(gr_upload(x, &(float){2}));
    float got[2];
    assert_true(gr_module_build(net, 1, (int64_t[]){1}));
    for (int i = 0; i < 2; i++) {
        assert_true(gr_upload(gr_parameter(net, 0), &(float){(float)(i + 1)}));
        gr_tensor *y = gr_cast(gr_forward(net, x), GR_F32);
        assert_true(gr_download(y, &got[i]));
        gr_step_end(ctx);
    }
    assert_true(got[0] == 2 && got[1] == 4);
    assert_int_equal(gr_close(ctx), 0);
}

/* A half activation that is used twice: d(x w + x w) = 2 w, whoever adds. */
static void gradients_of_shared_halves_add_up(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.precision = GR_PRECISION_BF16});
    gr_tensor *x = gr_variable(ctx, 2, (int64_t[]){1, 1}), *w = gr_variable(ctx, 2, (int64_t[]){1, 1});
    assert_true(gr_upload(x, &(float){3}) && gr_upload(w, &(float){0.5f}));
    gr_tensor *h = gr_dense(x, w, NULL, NULL), *y = gr_add(h, h, NULL), *z = gr_dense(y, w, NULL, NULL);
    assert_true(gr_backward(gr_add(z, gr_tanh(gr_scale(h, 0)), NULL)));
    assert_true(gr_item(gr_grad(x)) == 2 * 0.5 * 0.5);
    assert_true(gr_item(gr_grad(w)) == 2 * 2 * 3 * 0.5);
    assert_int_equal(gr_close(ctx), 0);
}

/* Two epochs on simt with an evaluation between them, which casts the weights; the losses of their evaluations. */
static void fit_with_evaluation(bool no_graph, float *weight, gr_fit_result *result)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "simt", .precision = GR_PRECISION_FP16, .seed = 3});
    gr_module *net =
        gr_sequential(ctx, gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
    gr_split split = {.train = gr_procedural(ctx, IMAGES, 4, 4, 1), .val = gr_procedural(ctx, BATCH, 4, 4, 2)};
    *result = gr_fit(net, gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.5}), split,
                     &(gr_fit_options){.batch = BATCH, .epochs = 3, .no_graph = no_graph});
    assert_true(gr_ok(ctx));
    assert_true(gr_download(gr_parameter(net, 0), weight));
    assert_int_equal(gr_close(ctx), 0);
}

/*
 * An update that is repeated as a graph reads the weights as they are each time, whoever had cast them when it was
 * written down.
 */
static void graphs_read_new_weights(void **state)
{
    (void)state;
    float weight[2][48];
    gr_fit_result result[2];
    for (int i = 0; i < 2; i++)
        fit_with_evaluation(i == 1, weight[i], &result[i]);
    assert_memory_equal(weight[0], weight[1], sizeof weight[0]);
    assert_true(result[0].train_loss == result[1].train_loss && result[0].val.loss == result[1].val.loss);
}

/* What overflows halves the scale and changes nothing else: not a bit of weights, moments and running statistics. */
static void overflow_skips_the_update(void **state)
{
    (void)state;
    for (kind k = 0; k < PROX; k++) {
        session s = open_session("cpu", GR_PRECISION_FP16, k);
        assert_true(gr_loss_scaling(s.ctx).scale == 65536);
        gr_set_loss_scale(s.ctx, 1024);
        update(&s);
        int64_t n, m;
        float *before = everything(&s, &n);
        gr_set_loss_scale(s.ctx, 0x1p24);
        const double loss = update(&s);
        float *after = everything(&s, &m);
        assert_true(isfinite(loss));
        assert_memory_equal(before, after, (size_t)n * sizeof *before);
        assert_true(gr_loss_scaling(s.ctx).scale == 0x1p23);
        assert_int_equal(gr_loss_scaling(s.ctx).skipped, 1);
        assert_false(gr_loss_scaling(s.ctx).stuck);
        free(before);
        free(after);
        close_session(&s);
    }
}

/* Two dense layers of one input, which shares its storage with what the pooling before it made. */
static gr_module *twin_net(gr_context *ctx)
{
    const gr_dense_options wide = {.units = 7, .init = GR_HE_UNIFORM};
    return gr_sequential(
        ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 5, .kernel = 3, .init = GR_HE_UNIFORM}),
        gr_relu_layer(ctx), gr_max_pool2d_layer(ctx, 2), gr_flatten_layer(ctx),
        gr_residual(ctx, gr_sequential(ctx, gr_dense_layer(ctx, &wide), NULL),
                    gr_sequential(ctx, gr_dense_layer(ctx, &wide), NULL)),
        gr_dense_layer(ctx, &wide), gr_relu_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
}

/* Weights after ten updates, with or without fusion. */
static float *trained(gr_precision precision, kind k, bool fused, int64_t *count)
{
    session s = {.ctx = gr_open(&(gr_options){.precision = precision, .seed = 3})};
    s.net = twin_net(s.ctx);
    s.opt = optimizer_of(s.ctx, s.net, k);
    s.loader = gr_loader_open(gr_procedural(s.ctx, IMAGES, SIDE, SIDE, 1),
                              &(gr_loader_options){.batch = BATCH, .order = GR_IN_ORDER});
    for (int i = 0; i < 10; i++) {
        gr_batch batch;
        assert_true(next_batch(&s, &batch));
        gr_tensor *loss = gr_loss(gr_forward(s.net, batch.x), &batch);
        assert_true(fused ? gr_minimize(s.opt, loss) : gr_backward(loss) && gr_optimizer_step(s.opt));
        gr_step_end(s.ctx);
    }
    assert_int_equal(gr_loss_scaling(s.ctx).skipped, 0);
    assert_int_equal(s.net->parameters->slab->segments[2].no_gradient, fused);
    float *all = everything(&s, count);
    close_session(&s);
    return all;
}

/*
 * The gradient of a fused layer's weights is the same sum, and in fp16 all else is the same too: only the last bits of
 * floats differ. In bf16 dX is computed with the weights themselves, not with what they were rounded to; Adam makes
 * whole steps of small differences.
 */
static void fused_updates_are_the_same(void **state)
{
    (void)state;
    const struct {
        gr_precision precision;
        double bound;
    } cases[] = {{GR_PRECISION_FP16, 1e-6}, {GR_PRECISION_BF16, 0x1p-6}};
    for (int i = 0; i < 2; i++)
        for (kind k = SGD; k <= ADAM; k++) {
            int64_t n, m;
            float *x = trained(cases[i].precision, k, true, &n), *y = trained(cases[i].precision, k, false, &m);
            double distance = 0, size = 0;
            assert_int_equal(n, m);
            for (int64_t j = 0; j < n; j++) {
                distance += pow((double)x[j] - (double)y[j], 2);
                size += pow((double)y[j], 2);
            }
            assert_true(sqrt(distance / size) < cases[i].bound);
            free(x);
            free(y);
        }
}

/* An infinity in x that a ReLU hides from the loss would still be one in the gradient of the weights, fused or not. */
static void hidden_infinity_skips_the_update(void **state)
{
    (void)state;
    for (kind k = MOMENTUM; k <= ADAM; k++) {
        gr_context *ctx = gr_open(&(gr_options){.precision = GR_PRECISION_FP16, .seed = 3});
        gr_module *net = gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = 3}), gr_relu_layer(ctx),
                                       gr_dense_layer(ctx, &(gr_dense_options){.units = 2}), NULL);
        session s = {.ctx = ctx, .net = net, .opt = optimizer_of(ctx, net, k)};
        assert_true(gr_module_build(net, 1, (int64_t[]){2}));
        assert_true(gr_upload(gr_parameter(net, 0), (float[]){-1, -2, -3, 1, 1, 1}));
        gr_tensor *x = gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){2, 2}),
                  *labels = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){2});
        for (int i = 0; i < 2; i++) {
            int64_t n, m;
            assert_true(gr_upload(x, i ? (float[]){1e6f, 1, 0, 2} : (float[]){1, 1, 0, 2}));
            float *before = i ? everything(&s, &n) : NULL;
            gr_tensor *loss = gr_softmax_cross_entropy(gr_forward(net, x), labels, NULL);
            assert_true(gr_minimize(s.opt, loss));
            assert_true(isfinite(gr_item(loss)));
            gr_step_end(ctx);
            float *after = everything(&s, &m);
            assert_true(!i || !memcmp(before, after, (size_t)n * sizeof *before));
            assert_int_equal(gr_loss_scaling(ctx).skipped, i);
            free(before);
            free(after);
        }
        assert_int_equal(gr_close(ctx), 0);
    }
}

/* An overflow in any step of the conservative method takes its whole update back. */
static void overflow_takes_all_steps_back(void **state)
{
    (void)state;
    for (int bad = 0; bad < 3; bad++) {
        session s = open_session("cpu", GR_PRECISION_FP16, PROX);
        gr_set_loss_scale(s.ctx, 1024);
        update(&s);
        int64_t n, m;
        float *before = everything(&s, &n);
        overflowing_update(&s, bad);
        float *after = everything(&s, &m);
        assert_int_equal(gr_loss_scaling(s.ctx).skipped, 1);
        const gr_slab *slab = s.net->parameters->slab;
        const int64_t kept = gr_count(slab->values) + gr_count(s.net->parameters->statistics->slab->values);
        assert_memory_equal(before, after, (size_t)kept * sizeof *before); /* behind them is the anchor */
        gr_set_loss_scale(s.ctx, 1024);
        update(&s);
        float *later = everything(&s, &m);
        assert_memory_not_equal(before, later, (size_t)gr_count(slab->values) * sizeof *before);
        free(before);
        free(after);
        free(later);
        close_session(&s);
    }
}

/* The updates around a skipped one are what they would be without it, Adam's count of updates included. */
static void only_that_update_is_skipped(void **state)
{
    (void)state;
    session with = open_session("cpu", GR_PRECISION_FP16, ADAM), without = open_session("cpu", GR_PRECISION_FP16, ADAM);
    gr_batch skipped;
    for (int i = 0; i < 4; i++) {
        gr_set_loss_scale(with.ctx, i == 2 ? 0x1p24 : 1024);
        gr_set_loss_scale(without.ctx, 1024);
        update(&with);
        if (i == 2) {
            assert_true(next_batch(&without, &skipped));
            gr_step_end(without.ctx);
        } else {
            update(&without);
        }
    }
    assert_int_equal(gr_loss_scaling(with.ctx).skipped, 1);
    assert_int_equal(gr_loss_scaling(without.ctx).skipped, 0);
    assert_same(&with, &without);
    close_session(&with);
    close_session(&without);
}

/* bf16 has the range of floats and no scale; neither has fp32. */
static void only_fp16_is_scaled(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.precision = GR_PRECISION_BF16});
    assert_true(gr_loss_scaling(ctx).scale == 1);
    assert_false(gr_set_loss_scale(ctx, 2));
    assert_non_null(strstr(gr_error_text(ctx), "GR_PRECISION_FP16"));
    assert_int_equal(gr_close(ctx), GR_USAGE);
    ctx = gr_open(&(gr_options){.precision = GR_PRECISION_FP16});
    assert_false(gr_set_loss_scale(ctx, 3));
    assert_int_equal(gr_close(ctx), GR_USAGE);
}

/* Makes the output of the second convolution too large for halves, whatever the scale. */
static void spoil(gr_module *net)
{
    for (int i = 0; i < gr_parameter_count(net); i++) {
        gr_tensor *w = gr_parameter(net, i);
        if (strcmp(gr_parameter_name(net, i), "conv2.weight"))
            continue;
        float *large = malloc((size_t)gr_count(w) * sizeof *large);
        for (int64_t j = 0; j < gr_count(w); j++)
            large[j] = 60000;
        assert_true(gr_upload(w, large));
        free(large);
    }
}

static void stuck_scale_stops_and_names_the_layer(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.precision = GR_PRECISION_FP16, .seed = 3});
    const gr_conv2d_options conv = {.filters = 6, .kernel = 3, .init = GR_HE_UNIFORM};
    gr_module *net = gr_sequential(ctx, gr_conv2d_layer(ctx, &conv), gr_relu_layer(ctx), gr_conv2d_layer(ctx, &conv),
                                   gr_relu_layer(ctx), gr_flatten_layer(ctx),
                                   gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
    assert_true(gr_module_build(net, 3, (int64_t[]){SIDE, SIDE, 3}));
    spoil(net);
    gr_split split = {.train = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1)};
    gr_fit_result r = gr_fit(net, gr_sgd(ctx, net, NULL), split, &(gr_fit_options){.batch = BATCH, .updates = 100});
    assert_int_equal(gr_error_code(ctx), GR_NUMERIC);
    assert_non_null(strstr(gr_error_text(ctx), "stuck at 1"));
    assert_non_null(strstr(gr_error_text(ctx), "the forward pass of conv2d (conv2+relu2)"));
    assert_int_equal(r.skipped, 16 + 5); /* down from 65536, and five at the floor */
    assert_true(r.loss_scale == 1);
    assert_int_equal(gr_close(ctx), 6);
}

/* Peak of a training step that is only planned. */
static int64_t peak(gr_module *(*model)(gr_context *ctx), int side, gr_precision precision, int64_t batch)
{
    gr_context *ctx = gr_open(&(gr_options){.precision = precision, .plan_only = true});
    gr_module *net = model(ctx);
    gr_optimizer *opt = gr_sgd(ctx, net, NULL);
    gr_loader *loader = gr_loader_open(gr_procedural(ctx, batch, side, side, 1),
                                       &(gr_loader_options){.batch = batch, .order = GR_IN_ORDER});
    gr_batch b;
    assert_true(gr_loader_next(loader, &b));
    assert_true(gr_minimize(opt, gr_loss(gr_forward(net, b.x), &b)));
    gr_step_end(ctx);
    const gr_memory m = gr_memory_use(ctx);
    gr_loader_close(loader);
    assert_int_equal(gr_close(ctx), 0);
    return m.persistent_peak + m.step_peak;
}

/* No activation is kept in both types, no weights are copied, and a large dense layer's gradient is not stored. */
static void halves_need_less_memory(void **state)
{
    (void)state;
    const struct {
        gr_module *(*model)(gr_context *ctx);
        int side;
        int64_t batch;
        double most;
    } cases[] = {{gr_cifar10_cnn, 32, 1024, 0.65},
                 {gr_cats_vs_dogs_net, 200, 8, 1},
                 {gr_cats_vs_dogs_net, 200, 32, 0.9},
                 {gr_cats_vs_dogs_net, 200, 128, 0.7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double fp32 = (double)peak(cases[i].model, cases[i].side, GR_PRECISION_FP32, cases[i].batch);
        for (gr_precision half = GR_PRECISION_FP16; half <= GR_PRECISION_BF16; half++)
            assert_true((double)peak(cases[i].model, cases[i].side, half, cases[i].batch) < cases[i].most * fp32);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_follow_floats),
        cmocka_unit_test(simt_follows_cpu),
        cmocka_unit_test(cpu_follows_ref),
        cmocka_unit_test(factors_are_rounded_to_tf32),
        cmocka_unit_test(what_is_not_finite_stays_so_in_tf32),
        cmocka_unit_test(tf32_is_refused_where_there_is_none),
        cmocka_unit_test(tf32_follows_floats),
        cmocka_unit_test(factors_are_split_into_pieces),
        cmocka_unit_test(what_is_not_finite_stays_so_in_pieces),
        cmocka_unit_test(pieces_are_refused_where_there_are_no_tiles),
        cmocka_unit_test(types_are_the_policy),
        cmocka_unit_test(leaves_have_gradients_of_their_type),
        cmocka_unit_test(weights_are_rounded_as_they_are_read),
        cmocka_unit_test(each_tensor_is_cast_once_a_step),
        cmocka_unit_test(uploaded_weights_are_cast_again),
        cmocka_unit_test(gradients_of_shared_halves_add_up),
        cmocka_unit_test(graphs_read_new_weights),
        cmocka_unit_test(overflow_skips_the_update),
        cmocka_unit_test(fused_updates_are_the_same),
        cmocka_unit_test(hidden_infinity_skips_the_update),
        cmocka_unit_test(overflow_takes_all_steps_back),
        cmocka_unit_test(only_that_update_is_skipped),
        cmocka_unit_test(only_fp16_is_scaled),
        cmocka_unit_test(stuck_scale_stops_and_names_the_layer),
        cmocka_unit_test(halves_need_less_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
