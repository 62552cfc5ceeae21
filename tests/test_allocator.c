/*
 * test_allocator.c - steps over a program's own memory: the same bits as over the planned arena, everything given back,
 * limits kept; and the allocators that gradus bench memory compares.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/gradus/bench/bench_memory_methods.h"
#include "gradus.h"

enum { N = 6, SIDE = 8, UPDATES = 4 };

/* --- an allocator that is as rude as it may be: garbage, and never the same place --------------------------------- */

typedef struct {
    gr_allocator allocator;
    int taken, given, ends;
    int left;        /* loans that are out now */
    int64_t allowed; /* takes before there is no more; -1: no end */
} rude;

static void *rude_take(void *user, size_t bytes)
{
    rude *r = user;
    if (r->allowed >= 0 && r->allowed-- == 0)
        return NULL;
    void *p = aligned_alloc(256, bytes);
    assert_true(p && bytes > 0 && bytes % 256 == 0);
    memset(p, 0xff, bytes); /* NaN in every type */
    r->taken++;
    r->left++;
    return p;
}

static void rude_give(void *user, void *p, size_t bytes)
{
    rude *r = user;
    memset(p, 0xff, bytes);
    free(p);
    r->given++;
    r->left--;
}

static void rude_end(void *user)
{
    rude *r = user;
    assert_int_equal(r->left, 0);
    r->ends++;
}

static void rude_open(rude *r)
{
    *r = (rude){.allocator = {rude_take, rude_give, rude_end, NULL}, .allowed = -1};
    r->allocator.user = r;
}

/* --- a network and its updates ------------------------------------------------------------------------------------ */

static gr_module *small_net(gr_context *ctx)
{
    return gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 9, .kernel = 3}),
                         gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx), gr_max_pool2d_layer(ctx, 2),
                         gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 4}), NULL);
}

static gr_tensor *loss_of(gr_context *ctx, gr_module *net)
{
    float pixels[N * SIDE * SIDE * 3];
    int32_t labels[N];
    for (int i = 0; i < N * SIDE * SIDE * 3; i++)
        pixels[i] = (float)sin(1.3 * i);
    for (int i = 0; i < N; i++)
        labels[i] = i % 4;
    gr_tensor *x = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){N, SIDE, SIDE, 3});
    gr_tensor *y = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){N});
    gr_upload(x, pixels);
    gr_upload(y, labels);
    return gr_softmax_cross_entropy(gr_forward(net, x), y, NULL);
}

/* The losses of some updates, one of them by gr_backward; returns the context's code. */
static gr_code train(const gr_allocator *allocator, gr_precision precision, int64_t limit, double losses[UPDATES])
{
    gr_context *ctx = gr_open(
        &(gr_options){.seed = 3, .threads = 1, .precision = precision, .memory_limit = limit, .allocator = allocator});
    gr_module *net = small_net(ctx);
    gr_optimizer *opt = gr_adam(ctx, net, &(gr_adam_options){.lr = 0.01});
    for (int i = 0; i < UPDATES && gr_ok(ctx); i++) {
        gr_tensor *loss = loss_of(ctx, net);
        losses[i] = gr_item(loss);
        if (i != 1)
            gr_minimize(opt, loss);
        else if (gr_backward(loss))
            gr_optimizer_step(opt);
        gr_step_end(ctx);
    }
    return (gr_code)gr_close(ctx);
}

static void any_memory_gives_the_same_bits(void **state)
{
    const gr_precision precisions_here[] = {GR_PRECISION_FP32, GR_PRECISION_BF16, GR_PRECISION_FP16};
    (void)state;
    for (int p = 0; p < 3; p++) {
        double planned[UPDATES], lent[UPDATES];
        rude r;
        rude_open(&r);
        assert_int_equal(train(NULL, precisions_here[p], 0, planned), GR_OK);
        assert_int_equal(train(&r.allocator, precisions_here[p], 0, lent), GR_OK);
        assert_true(isfinite(planned[UPDATES - 1]));
        assert_memory_equal(planned, lent, sizeof planned);
        assert_true(r.taken > 4 * UPDATES && r.ends >= UPDATES);
        assert_int_equal(r.given, r.taken);
        for (int m = MEMORY_CACHING; m < MEMORY_METHODS; m++) {
            memory_lender l = {0};
            memory_lender_open(&l, (memory_method)m);
            assert_int_equal(train(&l.allocator, precisions_here[p], 0, lent), GR_OK);
            assert_memory_equal(planned, lent, sizeof planned);
            assert_int_equal(l.asked, r.taken);
            memory_lender_close(&l);
        }
    }
}

static void it_ends_where_memory_does(void **state)
{
    double losses[UPDATES];
    rude r;
    (void)state;
    rude_open(&r);
    r.allowed = 5;
    assert_int_equal(train(&r.allocator, GR_PRECISION_FP32, 0, losses), GR_NO_MEMORY);
    assert_int_equal(r.left, 0);
    rude_open(&r); /* what is lent counts against the limit */
    assert_int_equal(train(&r.allocator, GR_PRECISION_FP32, 40 << 10, losses), GR_NO_MEMORY);
    assert_int_equal(r.left, 0);
}

static void what_cannot_lend_is_refused(void **state)
{
    rude r;
    (void)state;
    rude_open(&r);
    gr_context *ctx = gr_open(&(gr_options){.device = "simt", .allocator = &r.allocator});
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    assert_non_null(strstr(gr_error_text(ctx), "allocator"));
    gr_close(ctx);
    r.allocator.give = NULL;
    ctx = gr_open(&(gr_options){.allocator = &r.allocator});
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    assert_non_null(strstr(gr_error_text(ctx), "take or give"));
    gr_close(ctx);
}

static void the_context_counts_what_is_lent(void **state)
{
    rude r;
    (void)state;
    rude_open(&r);
    gr_context *ctx = gr_open(&(gr_options){.threads = 1, .allocator = &r.allocator});
    gr_tensor *x = gr_tensor_new(ctx, GR_F32, 1, (int64_t[]){1000});
    gr_tensor *y = gr_relu(x);
    assert_int_equal(r.left, 1);
    const gr_memory m = gr_memory_use(ctx);
    assert_int_equal(m.peak - m.persistent, 4096); /* 4,000 bytes, rounded as the arena rounds them */
    assert_non_null(y);
    gr_plan_begin(ctx); /* a dry run borrows nothing */
    assert_int_equal(r.left, 0);
    gr_relu(x);
    assert_int_equal(r.left, 0);
    assert_int_equal(gr_plan_end(ctx), 4096);
    assert_int_equal(r.taken, 1);
    assert_int_equal(gr_memory_use(ctx).step_peak, 4096);
    assert_int_equal(gr_close(ctx), GR_OK);
}

/* --- the cache ---------------------------------------------------------------------------------------------------- */

static void the_cache_keeps_pytorchs_rules(void **state)
{
    const size_t KIB = 1 << 10, MIB = 1 << 20;
    memory_lender l = {0};
    (void)state;
    memory_lender_open(&l, MEMORY_CACHING);
    const gr_allocator *a = &l.allocator;
    char *first = a->take(a->user, 600 * KIB), *second = a->take(a->user, 600 * KIB);
    assert_ptr_equal(second, first + 600 * KIB); /* of one piece of 2 MiB */
    assert_int_equal(l.system, 1);
    a->give(a->user, first, 600 * KIB);
    a->give(a->user, second, 600 * KIB);
    assert_ptr_equal(a->take(a->user, 1 * MIB), first); /* neighbours have become one */
    char *large = a->take(a->user, 5 * MIB);
    assert_int_equal(l.system, 2);
    assert_ptr_equal(a->take(a->user, 9 * MIB), large + 5 * MIB); /* of one piece of 20 MiB */
    assert_int_equal(l.system, 2);
    char *whole = a->take(a->user, 15 * MIB); /* a piece of 16 MiB: 1 MiB over is not cut off */
    assert_int_equal(l.system, 3);
    a->give(a->user, whole, 15 * MIB);
    a->give(a->user, large, 5 * MIB);
    assert_ptr_equal(a->take(a->user, 4 * MIB), large); /* the smallest that is large enough */
    assert_ptr_equal(a->take(a->user, 16 * MIB), whole);
    assert_int_equal(l.system, 3);
    memory_lender_close(&l);
}

/* Loans never overlap, whatever comes and goes: each is filled with its number, which is there when it goes. */
static void loans_keep_to_themselves(void **state)
{
    enum { PLACES = 40, TURNS = 4000 };
    struct {
        unsigned char *at;
        size_t bytes;
    } out[PLACES] = {{0}};
    memory_lender l = {0};
    (void)state;
    srand(7);
    memory_lender_open(&l, MEMORY_CACHING);
    for (int i = 0; i < TURNS; i++) {
        const int p = rand() % PLACES;
        if (out[p].at) {
            for (size_t b = 0; b < out[p].bytes; b += 64)
                assert_int_equal(out[p].at[b], p);
            l.allocator.give(&l, out[p].at, out[p].bytes);
            out[p].at = NULL;
            continue;
        }
        out[p].bytes = 256 * (size_t)(1 + rand() % (rand() % 8 ? 500 : 12000));
        out[p].at = l.allocator.take(&l, out[p].bytes);
        assert_true(out[p].at && (size_t)out[p].at % 256 == 0);
        for (size_t b = 0; b < out[p].bytes; b += 64)
            out[p].at[b] = (unsigned char)p;
    }
    memory_lender_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_memory_gives_the_same_bits), cmocka_unit_test(it_ends_where_memory_does),
        cmocka_unit_test(what_cannot_lend_is_refused),    cmocka_unit_test(the_context_counts_what_is_lent),
        cmocka_unit_test(the_cache_keeps_pytorchs_rules), cmocka_unit_test(loans_keep_to_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
