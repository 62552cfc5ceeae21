/*
 * test_half_copies.c - half copies of weights on the CUDA kernels: whatever changes the weights, what is read next is
 * what they are rounded to; and steps that write both leave nothing to cast.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/half.h"
#include "gradus.h"
#include "kernels/ops/updates.h"
#include "nn/module.h"

enum { SIDE = 6, IMAGES = 24, BATCH = 8 };

/* Of these SGD and Adam fuse the update of the dense layers, which have a bias, with their backward pass. */
typedef enum { MOMENTUM, SGD, ADAM, LARS, KINDS } kind;

typedef struct {
    gr_context *ctx;
    gr_module *net;
    gr_optimizer *opt;
    gr_loader *loader;
    int casts; /* of the weights: nothing else in this net is cast */
} session;

static void count_casts(void *user, const gr_trace_event *event)
{
    *(int *)user += !strcmp(event->op, "cast");
}

static gr_module *net_of(gr_context *ctx)
{
    return gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 5, .kernel = 3}),
                         gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx), gr_flatten_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 7}), gr_relu_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
}

static gr_optimizer *optimizer_of(gr_context *ctx, gr_module *net, kind k)
{
    return k == ADAM   ? gr_adam(ctx, net, &(gr_adam_options){.lr = 0.01})
           : k == LARS ? gr_lars(ctx, net, &(gr_lars_options){.lr = 0.5, .lars = {.momentum = 0.9}})
                       : gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.05, .momentum = k == MOMENTUM ? 0.9 : 0});
}

static void open_session(session *s, gr_precision precision, kind k)
{
    *s = (session){.ctx = gr_open(&(gr_options){.device = "simt", .precision = precision, .seed = 3})};
    s->net = net_of(s->ctx);
    s->opt = optimizer_of(s->ctx, s->net, k);
    s->loader = gr_loader_open(gr_procedural(s->ctx, IMAGES, SIDE, SIDE, 1),
                               &(gr_loader_options){.batch = BATCH, .order = GR_IN_ORDER});
    gr_trace(s->ctx, count_casts, &s->casts);
    assert_string_equal(gr_error_text(s->ctx), "");
}

static void close_session(session *s)
{
    gr_loader_close(s->loader);
    assert_int_equal(gr_close(s->ctx), 0);
}

static gr_tensor *next_loss(session *s)
{
    gr_batch batch;
    assert_true(gr_loader_next(s->loader, &batch) || gr_loader_next(s->loader, &batch)); /* after an epoch's end */
    return gr_loss(gr_forward(s->net, batch.x), &batch);
}

/* As many passes as the optimizer makes, each over a batch of its own. */
static void update(session *s)
{
    for (int pass = 0; pass < gr_optimizer_passes(s->opt); pass++) {
        assert_true(gr_minimize(s->opt, next_loss(s)));
        gr_step_end(s->ctx);
    }
}

/* For the caller to free. */
static void *elements(const gr_tensor *t)
{
    void *to = malloc(gr__bytes(t));
    assert_true(to && gr_download(t, to));
    return to;
}

/* Whether every copy is what its weight is rounded to, and nobody thinks otherwise. */
static bool up_to_date(const session *s)
{
    const gr_slab *slab = s->net->parameters->slab;
    const bool f16 = slab->halves->type == GR_F16;
    float *weights = elements(slab->values);
    uint16_t *copies = elements(slab->halves);
    bool same = !slab->halves_stale;
    for (int64_t i = 0; i < gr_count(slab->values); i++)
        same &= copies[i] == (f16 ? gr__f16_of((double)weights[i]) : gr__bf16_of((double)weights[i]));
    free(weights);
    free(copies);
    return same;
}

/* The same of what a forward pass reads. */
static bool read_up_to_date(session *s)
{
    next_loss(s);
    const bool good = up_to_date(s);
    gr_clear_gradients(s->ctx);
    gr_step_end(s->ctx);
    return good;
}

static void steps_leave_nothing_to_cast(void **state)
{
    (void)state;
    for (gr_precision precision = GR_PRECISION_FP16; precision <= GR_PRECISION_BF16; precision++)
        for (kind k = 0; k < KINDS; k++) {
            session s;
            open_session(&s, precision, k);
            for (int i = 0; i < 3; i++) {
                update(&s);
                assert_true(up_to_date(&s));
            }
            assert_int_equal(s.casts, 1);
            close_session(&s);
        }
}

static void skipped_steps_leave_them(void **state)
{
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        session s;
        open_session(&s, GR_PRECISION_FP16, k);
        update(&s);
        const gr_tensor *halves = s.net->parameters->slab->halves;
        uint16_t *before = elements(halves);
        gr_set_loss_scale(s.ctx, 0x1p24);
        update(&s);
        uint16_t *after = elements(halves);
        assert_int_equal(gr_loss_scaling(s.ctx).skipped, 1);
        assert_memory_equal(before, after, gr__bytes(halves));
        assert_true(up_to_date(&s) && s.casts == 1);
        free(before);
        free(after);
        close_session(&s);
    }
}

static void gradients_that_add_up(void **state)
{
    (void)state;
    session s;
    open_session(&s, GR_PRECISION_BF16, ADAM);
    for (int i = 0; i < 2; i++) {
        assert_true(gr_backward(next_loss(&s)));
        gr_step_end(s.ctx);
        assert_true(gr_backward(next_loss(&s)) && gr_optimizer_step(s.opt));
        gr_step_end(s.ctx);
        assert_true(up_to_date(&s));
    }
    assert_int_equal(s.casts, 1);
    close_session(&s);
}

/* A frozen layer is in the one cast, and no step after it. */
static void frozen_weights(void **state)
{
    (void)state;
    session s;
    open_session(&s, GR_PRECISION_BF16, MOMENTUM);
    assert_true(gr_module_build(s.net, 3, (int64_t[]){SIDE, SIDE, 3}) && gr_module_freeze(s.net, "conv1*") > 0);
    for (int i = 0; i < 2; i++) {
        update(&s);
        assert_true(up_to_date(&s));
    }
    assert_int_equal(s.casts, 1);
    close_session(&s);
}

/* A program's own weights between updates, and averages in the place of weights. */
static void weights_from_elsewhere(void **state)
{
    (void)state;
    session s;
    open_session(&s, GR_PRECISION_FP16, MOMENTUM);
    assert_true(gr_set_ema(s.opt, 0.9));
    update(&s);
    gr_tensor *w = gr_parameter(s.net, 0);
    float *others = elements(w);
    for (int64_t i = 0; i < gr_count(w); i++)
        others[i] += 0.25f;
    assert_true(gr_upload(w, others));
    update(&s);
    assert_true(up_to_date(&s) && s.casts == 2);
    for (int i = 0; i < 2; i++) {
        assert_true(gr_ema_swap(s.opt) && read_up_to_date(&s));
        assert_int_equal(s.casts, 3 + i);
    }
    free(others);
    close_session(&s);
}

static void weights_of_a_checkpoint(void **state)
{
    (void)state;
    char path[] = "/tmp/gradus-copies-XXXXXX";
    close(mkstemp(path));
    session s;
    open_session(&s, GR_PRECISION_BF16, ADAM);
    update(&s);
    assert_true(gr_checkpoint_save(s.opt, path, NULL));
    update(&s);
    assert_true(gr_checkpoint_load(s.opt, path, NULL));
    assert_true(read_up_to_date(&s));
    assert_int_equal(s.casts, 2);
    unlink(path);
    close_session(&s);
}

/* More samples of halves than the kernel takes: the one for floats writes no copy. */
static void fused_step_in_floats(void **state)
{
    (void)state;
    enum { MANY = 40 };
    session s;
    open_session(&s, GR_PRECISION_BF16, SGD);
    update(&s);
    gr_tensor *w = gr_parameter(s.net, 4), *x = gr_tensor_new(s.ctx, GR_BF16, 2, (int64_t[]){MANY, gr_dim(w, 0)}),
              *dy = gr_tensor_new(s.ctx, GR_BF16, 2, (int64_t[]){MANY, gr_dim(w, 1)});
    uint16_t *ones = malloc(gr__bytes(x));
    for (int64_t i = 0; i < gr_count(x); i++)
        ones[i] = gr__bf16_of(1);
    assert_true(gr_upload(x, ones) && gr_upload(dy, ones));
    assert_non_null(gr_dense_sgd(&(gr_dense_update){.x = x, .dy = dy, .w = w}));
    gr_step_end(s.ctx);
    assert_false(up_to_date(&s));
    assert_true(read_up_to_date(&s));
    free(ones);
    close_session(&s);
}

/* Steps that write the weights alone: SAM's, look-ahead's, Muon's, the conservative method's. */
static void other_steps(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        session s;
        open_session(&s, GR_PRECISION_BF16, MOMENTUM);
        if (which == 0)
            assert_true(gr_set_sam(s.opt, 0.05));
        if (which == 1)
            assert_true(gr_set_lookahead(s.opt, &(gr_lookahead){.every = 2, .decay = 0.5}));
        if (which == 2)
            s.opt = gr_muon(s.ctx, s.net, &(gr_muon_options){.normalise = true});
        if (which == 3)
            s.opt = gr_prox(s.ctx, s.net, &(gr_prox_options){.steps = 2});
        for (int i = 0; i < 3; i++) {
            update(&s);
            assert_true(read_up_to_date(&s));
        }
        close_session(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_leave_nothing_to_cast), cmocka_unit_test(skipped_steps_leave_them),
        cmocka_unit_test(gradients_that_add_up),       cmocka_unit_test(frozen_weights),
        cmocka_unit_test(weights_from_elsewhere),      cmocka_unit_test(weights_of_a_checkpoint),
        cmocka_unit_test(fused_step_in_floats),        cmocka_unit_test(other_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
