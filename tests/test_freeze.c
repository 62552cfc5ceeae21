/*
 * test_freeze.c - what is frozen stays, costs nothing, and changes nothing about what is trained: after one update the
 * others are what they would have been without it, bit for bit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gradus.h"
#include "nn/module.h"
#include "optim/optimizer.h"

enum { SIDE = 8, BATCH = 6, CLASSES = 3 };

/* conv1, bn1, a residual block in layer1, fc. */
static gr_module *small_net(gr_context *ctx)
{
    const gr_conv2d_options conv = {.filters = 8, .kernel = 3, .padding = GR_SAME, .no_bias = true};
    gr_module *body = gr_sequential(ctx, gr_conv2d_layer(ctx, &conv), gr_batch_norm_layer(ctx, NULL), NULL);
    gr_module *layer1 = gr_named(gr_sequential(ctx, gr_residual(ctx, body, NULL), NULL), "layer1");
    gr_module *net = gr_sequential(ctx, gr_conv2d_layer(ctx, &conv), gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx),
                                   layer1, gr_flatten_layer(ctx),
                                   gr_named(gr_dense_layer(ctx, &(gr_dense_options){.units = CLASSES}), "fc"), NULL);
    gr_module_build(net, 3, (int64_t[]){SIDE, SIDE, 3});
    return net;
}

/* One micro-batch of pictures that are drawn the same each time. */
static gr_tensor *loss_of(gr_module *net)
{
    gr_context *ctx = net->ctx;
    enum { COUNT = BATCH * SIDE * SIDE * 3 };
    float pictures[COUNT];
    double wide[COUNT];
    unsigned state = 1;
    for (int i = 0; i < COUNT; i++) {
        state = state * 1664525u + 1013904223u;
        wide[i] = (double)(pictures[i] = (float)(state >> 8) / (float)(1 << 24));
    }
    gr_tensor *x = gr_tensor_new(ctx, gr_real(ctx), 4, (int64_t[]){BATCH, SIDE, SIDE, 3});
    gr_tensor *labels = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){BATCH});
    gr_upload(x, gr_real(ctx) == GR_F64 ? (void *)wide : (void *)pictures);
    gr_upload(labels, (int32_t[BATCH]){0, 1, 2, 1, 0, 2});
    return gr_softmax_cross_entropy(gr_forward(net, x), labels, NULL);
}

static bool matches(const char *name, const char *part)
{
    return strncmp(name, part, strlen(part)) == 0;
}

/* The values of a parameter, for the caller to free. */
static void *values_of(const gr_tensor *t)
{
    void *host = calloc((size_t)gr_count(t), gr_type_size(gr_type_of(t)));
    assert_true(gr_download(t, host));
    return host;
}

static bool equal(const gr_tensor *a, const gr_tensor *b)
{
    void *x = values_of(a), *y = values_of(b);
    const bool same = memcmp(x, y, (size_t)gr_count(a) * gr_type_size(gr_type_of(a))) == 0;
    free(x);
    free(y);
    return same;
}

typedef struct {
    gr_context *ctx;
    gr_module *net;
    gr_optimizer *opt;
} run;

typedef gr_optimizer *(*maker)(gr_context *ctx, gr_module *net);

static run open_run(const gr_options *options, const char *freeze, const char *statistics, maker make)
{
    run r = {.ctx = gr_open(options)};
    r.net = small_net(r.ctx);
    if (freeze)
        assert_true(gr_module_freeze(r.net, freeze) > 0);
    if (statistics)
        assert_true(gr_module_freeze_statistics(r.net, statistics) > 0);
    r.opt = make(r.ctx, r.net);
    return r;
}

static void update(const run *r, bool minimize)
{
    gr_tensor *loss = loss_of(r->net);
    if (!(minimize ? gr_minimize(r->opt, loss) : gr_backward(loss) && gr_optimizer_step(r->opt)))
        fail_msg("%s", gr_error_text(r->ctx));
    gr_step_end(r->ctx);
}

static gr_optimizer *sgd(gr_context *ctx, gr_module *net)
{
    return gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.1});
}

static gr_optimizer *momentum(gr_context *ctx, gr_module *net)
{
    return gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01});
}

static gr_optimizer *adam(gr_context *ctx, gr_module *net)
{
    return gr_adam(ctx, net, NULL);
}

static gr_optimizer *lars(gr_context *ctx, gr_module *net)
{
    return gr_lars(ctx, net, &(gr_lars_options){.lars.momentum = 0.9});
}

/* Frozen parameters as they were drawn, the others as without freezing. */
static void assert_only_rest_moved(const run *frozen, const run *free_run, const run *drawn, const char *part)
{
    for (int i = 0; i < gr_parameter_count(frozen->net); i++) {
        const char *name = gr_parameter_name(frozen->net, i);
        const bool stays = matches(name, part);
        assert_int_equal(gr_parameter_frozen(frozen->net, i), stays);
        if (!equal(gr_parameter(frozen->net, i), gr_parameter(stays ? drawn->net : free_run->net, i)))
            fail_msg("%s of %s frozen is not what it should be", name, part);
        if (equal(gr_parameter(free_run->net, i), gr_parameter(drawn->net, i)))
            fail_msg("%s does not move at all", name);
    }
}

static void one_update(const gr_options *options, const char *part, maker make, bool minimize)
{
    char pattern[32];
    snprintf(pattern, sizeof pattern, "%s*", part);
    const run frozen = open_run(options, pattern, NULL, make), all = open_run(options, NULL, NULL, make),
              drawn = open_run(options, NULL, NULL, make);
    update(&frozen, minimize);
    update(&all, minimize && !matches(part, "fc")); /* a frozen dense layer's update is not fused: dX is rounded so */
    assert_only_rest_moved(&frozen, &all, &drawn, part);
    assert_int_equal(gr_close(frozen.ctx), 0);
    assert_int_equal(gr_close(all.ctx), 0);
    assert_int_equal(gr_close(drawn.ctx), 0);
}

static void what_is_trained_is_trained_as_before(void **state)
{
    (void)state;
    const maker makers[] = {sgd, momentum, adam, lars};
    const char *const parts[] = {"conv1", "bn1", "layer1", "fc.weight", "fc.bias"};
    const gr_options options[] = {{.device = "ref"}, {.device = "cpu"}, {.precision = GR_PRECISION_BF16}};
    for (size_t o = 0; o < sizeof options / sizeof *options; o++)
        for (size_t m = 0; m < sizeof makers / sizeof *makers; m++)
            for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
                one_update(&options[o], parts[p], makers[m], (m + p) % 2);
    one_update(&(gr_options){.precision = GR_PRECISION_FP16}, "fc.bias", sgd, true);
    one_update(&(gr_options){.precision = GR_PRECISION_FP16}, "layer1", adam, false);
}

/* --- a rate of one's own ------------------------------------------------------------------------------------------ */

/* fc learns three times as fast, whether its update could be fused or not; the others as before. */
static void a_scaled_rate(const gr_options *options, maker make, bool minimize)
{
    const run drawn = open_run(options, NULL, NULL, make), once = open_run(options, NULL, NULL, make),
              thrice = open_run(options, NULL, NULL, make);
    assert_true(gr_set_lr_scale(thrice.opt, "fc.*", 3));
    update(&once, false);
    update(&thrice, minimize);
    for (int i = 0; i < gr_parameter_count(drawn.net); i++) {
        const int64_t n = gr_count(gr_parameter(drawn.net, i));
        double *from = values_of(gr_parameter(drawn.net, i)), *a = values_of(gr_parameter(once.net, i)),
               *b = values_of(gr_parameter(thrice.net, i));
        const double scale = matches(gr_parameter_name(drawn.net, i), "fc.") ? 3 : 1;
        for (int64_t j = 0; j < n; j++)
            assert_true(fabs((b[j] - from[j]) - scale * (a[j] - from[j])) < 1e-12);
        free(from);
        free(a);
        free(b);
    }
    const run runs[] = {drawn, once, thrice};
    for (int i = 0; i < 3; i++)
        assert_int_equal(gr_close(runs[i].ctx), 0);
}

/* Ten times the rate and a tenth of the decay: what the gradient does is tenfold, what decay does is as before. */
static gr_optimizer *decaying(gr_context *ctx, gr_module *net)
{
    return gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.01, .momentum = 0.9, .weight_decay = 0.5});
}

static gr_optimizer *not_decaying(gr_context *ctx, gr_module *net)
{
    return gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.01, .momentum = 0.9});
}

static void decay_has_a_scale_of_its_own(void **state)
{
    (void)state;
    const gr_options ref = {.device = "ref"};
    const run drawn = open_run(&ref, NULL, NULL, decaying), bare = open_run(&ref, NULL, NULL, not_decaying),
              both = open_run(&ref, NULL, NULL, decaying);
    assert_true(gr_set_lr_scale(both.opt, "fc.weight", 10) && gr_set_decay_scale(both.opt, "fc.weight", 0.1));
    update(&bare, false);
    update(&both, false);
    for (int i = 0; i < gr_parameter_count(drawn.net); i++) {
        double *from = values_of(gr_parameter(drawn.net, i)), *a = values_of(gr_parameter(bare.net, i)),
               *b = values_of(gr_parameter(both.net, i));
        const double scale = matches(gr_parameter_name(drawn.net, i), "fc.weight") ? 10 : 1;
        for (int64_t j = 0; j < gr_count(gr_parameter(drawn.net, i)); j++)
            assert_true(fabs((b[j] - from[j]) - (scale * (a[j] - from[j]) - 0.01 * 0.5 * from[j])) < 1e-12);
        free(from);
        free(a);
        free(b);
    }
    const run runs[] = {drawn, bare, both};
    for (int i = 0; i < 3; i++)
        assert_int_equal(gr_close(runs[i].ctx), 0);
}

static void parts_learn_at_rates_of_their_own(void **state)
{
    (void)state;
    const gr_options ref = {.device = "ref"};
    a_scaled_rate(&ref, sgd, true);
    a_scaled_rate(&ref, sgd, false);
    a_scaled_rate(&ref, adam, true);
    a_scaled_rate(&ref, lars, false);
}

/* SAM climbs and comes back, gradients are clipped, sharpness is measured, with a frozen part in the middle. */
static void passes_over_all_weights_leave_frozen_ones_out(void **state)
{
    (void)state;
    const run r = open_run(NULL, "layer1.*", NULL, sgd), drawn = open_run(NULL, NULL, NULL, sgd);
    gr_set_sam(r.opt, 0.05);
    gr_set_clip(r.opt, 1);
    gr_set_lr(r.opt, 1e-60); /* 0 to a float */
    for (int pass = 0; pass < 2; pass++)
        update(&r, false);
    for (int i = 0; i < gr_parameter_count(r.net); i++)
        assert_true(equal(gr_parameter(r.net, i), gr_parameter(drawn.net, i)));
    assert_int_equal(gr_close(r.ctx), 0);
    assert_int_equal(gr_close(drawn.ctx), 0);
}

/* --- cost --------------------------------------------------------------------------------------------------------- */

typedef struct {
    int kernels, backward;
} counts;

static void count(void *user, const gr_trace_event *event)
{
    counts *c = user;
    c->kernels += event->kind == GR_TRACE_KERNEL;
    c->backward += event->kind == GR_TRACE_KERNEL && strcmp(event->pass, "backward") == 0;
}

static counts kernels_of(const run *r)
{
    counts c = {0};
    gr_trace(r->ctx, count, &c);
    update(r, false);
    gr_trace(r->ctx, NULL, NULL);
    return c;
}

/* Step memory of an evaluation. */
static int64_t evaluation_peak(const run *r)
{
    gr_plan_begin(r->ctx);
    gr_record(r->ctx, false);
    loss_of(r->net);
    gr_record(r->ctx, true);
    return gr_plan_end(r->ctx);
}

/* Of the frozen stem nothing is differentiated, kept or given moments. */
static void costs_of(const gr_options *o)
{
    const run all = open_run(o, NULL, NULL, adam), part = open_run(o, "conv1.*,bn1.*,layer1.*", NULL, adam),
              still = open_run(o, "conv1.*,bn1.*,layer1.*", "*", adam);
    const int64_t least = evaluation_peak(&still);
    const counts a = kernels_of(&all), p = kernels_of(&part), s = kernels_of(&still);
    assert_true(a.backward >= 6); /* loss, dense, twice convolution and normalisation; flatten hands dY through */
    assert_int_equal(p.backward, 2);
    assert_int_equal(s.backward, 2);
    assert_true(s.kernels < p.kernels); /* no statistics are tracked and committed */
    const int64_t fc = part.net->parameters->slab->state_count;
    assert_true(fc * 4 < all.net->parameters->slab->state_count * 4 - 1000);
    assert_int_equal(gr_count(part.opt->moments[0]), fc);
    assert_int_equal(gr_count(part.net->parameters->slab->gradients), fc);
    assert_int_equal(gr_memory_use(still.ctx).step_peak, least);
    if (o->precision == GR_PRECISION_DEFAULT) /* halves are widened for this kernel, which takes more than is kept */
        assert_true(gr_memory_use(part.ctx).step_peak < gr_memory_use(all.ctx).step_peak / 2);
    assert_true(gr_memory_use(still.ctx).persistent < gr_memory_use(all.ctx).persistent);
    assert_int_equal(gr_close(all.ctx), 0);
    assert_int_equal(gr_close(part.ctx), 0);
    assert_int_equal(gr_close(still.ctx), 0);
}

/* A dense layer reads its weights' half copies. */
static void a_frozen_dense_layer_costs_nothing(void **state)
{
    (void)state;
    run r = {.ctx = gr_open(&(gr_options){.device = "simt", .precision = GR_PRECISION_BF16})};
    r.net = gr_sequential(r.ctx, gr_flatten_layer(r.ctx), gr_dense_layer(r.ctx, &(gr_dense_options){.units = 4}),
                          gr_relu_layer(r.ctx), gr_dense_layer(r.ctx, &(gr_dense_options){.units = CLASSES}), NULL);
    assert_true(gr_module_build(r.net, 3, (int64_t[]){SIDE, SIDE, 3}));
    assert_int_equal(gr_module_freeze(r.net, "dense1.*"), 2);
    r.opt = sgd(r.ctx, r.net);
    assert_int_equal(kernels_of(&r).backward, 2);
    assert_int_equal(gr_close(r.ctx), 0);
}

static void what_is_frozen_costs_nothing(void **state)
{
    (void)state;
    costs_of(&(gr_options){0});
    costs_of(&(gr_options){.precision = GR_PRECISION_BF16});
}

/* --- statistics --------------------------------------------------------------------------------------------------- */

static const gr_tensor *statistic(const run *r, int i)
{
    return r->net->parameters->statistics->slab->segments[i].value;
}

/* bn1's mean and variance are 0 and 1 in the list, the block's 2 and 3. */
static void statistics_stay_only_where_asked(void **state)
{
    (void)state;
    const run all = open_run(NULL, NULL, NULL, sgd), scale = open_run(NULL, "conv1.*,bn1.*", NULL, sgd),
              still = open_run(NULL, "conv1.*,bn1.*", "conv1.*,bn1.*", sgd), drawn = open_run(NULL, NULL, NULL, sgd);
    update(&all, false);
    update(&scale, false);
    update(&still, false);
    for (int i = 0; i < 4; i++) {
        assert_true(equal(statistic(&scale, i), statistic(&all, i))); /* also where nothing is differentiated */
        assert_false(equal(statistic(&all, i), statistic(&drawn, i)));
    }
    assert_true(equal(statistic(&still, 0), statistic(&drawn, 0)));
    assert_true(equal(statistic(&still, 1), statistic(&drawn, 1)));
    assert_false(equal(statistic(&still, 2), statistic(&drawn, 2)));
    assert_false(equal(statistic(&still, 3), statistic(&drawn, 3)));
    const run runs[] = {all, scale, still, drawn};
    for (int i = 0; i < 4; i++)
        assert_int_equal(gr_close(runs[i].ctx), 0);
}

/* All statistics frozen: training sees what evaluation sees. */
static void frozen_statistics_are_used(void **state)
{
    (void)state;
    const run r = open_run(&(gr_options){.device = "ref"}, "fc.*", "*running_mean", sgd);
    update(&r, false);
    const double trained = gr_item(loss_of(r.net));
    gr_record(r.ctx, false);
    assert_true(trained == gr_item(loss_of(r.net)));
    gr_step_end(r.ctx);
    assert_int_equal(gr_close(r.ctx), 0);
}

/* --- sharpness ---------------------------------------------------------------------------------------------------- */

/* With fc.bias alone to be moved, no loss is above that of the worst corner around its three zeros. */
static void sharpness_is_of_what_is_trained(void **state)
{
    (void)state;
    const float epsilon = 0.125f;
    const run r = open_run(NULL, "conv1.*,bn1.*,layer1.*,fc.weight", "*", sgd);
    gr_dataset *set = gr_procedural(r.ctx, 4, SIDE, SIDE, 1);
    const gr_sharpness s = gr_measure_sharpness(r.net, set, &(gr_sharpness_options){.epsilon = (double)epsilon});
    double worst = 0;
    for (int corner = 0; corner < 8; corner++) {
        const float bias[CLASSES] = {corner & 1 ? epsilon : -epsilon, corner & 2 ? epsilon : -epsilon,
                                     corner & 4 ? epsilon : -epsilon};
        assert_true(gr_upload(gr_parameter(r.net, gr_parameter_count(r.net) - 1), bias));
        worst = fmax(worst, gr_evaluate(r.net, set).loss);
    }
    assert_true(s.worst > s.loss && s.worst < worst + 1e-6);
    assert_int_equal(gr_close(r.ctx), 0);
}

/* --- checkpoints -------------------------------------------------------------------------------------------------- */

static void a_run_goes_on_with_the_same_parts_frozen(void **state)
{
    (void)state;
    char path[] = "/tmp/gradus-freeze-XXXXXX";
    close(mkstemp(path));
    const run whole = open_run(NULL, "layer1.*", "layer1.*", adam), rest = open_run(NULL, "layer1.*", "layer1.*", adam),
              other = open_run(NULL, "conv1.*", NULL, adam);
    update(&whole, true);
    assert_true(gr_checkpoint_save(whole.opt, path, NULL));
    update(&whole, true);
    assert_true(gr_checkpoint_load(rest.opt, path, NULL));
    update(&rest, true);
    for (int i = 0; i < gr_parameter_count(whole.net); i++)
        assert_true(equal(gr_parameter(whole.net, i), gr_parameter(rest.net, i)));
    assert_false(gr_checkpoint_load(other.opt, path, NULL));
    assert_non_null(strstr(gr_error_text(other.ctx), "other parameters frozen"));
    unlink(path);
    assert_int_equal(gr_close(whole.ctx), 0);
    assert_int_equal(gr_close(rest.ctx), 0);
    gr_close(other.ctx);
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

static void refused(int answer, gr_context *ctx, const char *part)
{
    assert_int_equal(answer, -1);
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    if (!strstr(gr_error_text(ctx), part))
        fail_msg("expected \"%s\" in: %s", part, gr_error_text(ctx));
    gr_clear_error(ctx);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_module *net = gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = 2}), NULL);
    refused(gr_module_freeze(net, "dense1.*"), ctx, "not built yet");
    assert_true(gr_module_build(net, 1, (int64_t[]){2}));
    refused(gr_module_freeze(net, "conv1.*"), ctx, "\"conv1.*\"; there are dense1.weight, dense1.bias");
    refused(gr_module_freeze(net, "dense1.bias,,dense1.weight"), ctx, "\",dense1.weight\"");
    refused(gr_module_freeze(net, ""), ctx, "no pattern");
    refused(gr_module_freeze(net, NULL), ctx, "no pattern");
    refused(gr_module_freeze_statistics(net, "*"), ctx, "there is none at all");
    gr_optimizer *opt = sgd(ctx, net);
    assert_false(gr_set_lr_scale(opt, "conv1.*", 2));
    assert_non_null(strstr(gr_error_text(ctx), "\"conv1.*\"; there are dense1.weight"));
    gr_clear_error(ctx);
    assert_false(gr_set_lr_scale(opt, "*", 0));
    gr_clear_error(ctx);
    assert_false(gr_set_decay_scale(opt, "*", -1));
    gr_clear_error(ctx);
    assert_int_equal(gr_module_freeze(net, "*"), 2);
    assert_false(gr_optimizer_step(opt));
    assert_non_null(strstr(gr_error_text(ctx), "all frozen"));
    gr_close(ctx);
    const run r = open_run(NULL, NULL, NULL, sgd);
    update(&r, false);
    refused(gr_module_freeze(r.net, "*"), r.ctx, "before its first backward pass");
    assert_int_equal(gr_module_freeze(NULL, "*"), -1);
    assert_int_equal(gr_close(r.ctx), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_trained_is_trained_as_before),
        cmocka_unit_test(decay_has_a_scale_of_its_own),
        cmocka_unit_test(parts_learn_at_rates_of_their_own),
        cmocka_unit_test(passes_over_all_weights_leave_frozen_ones_out),
        cmocka_unit_test(what_is_frozen_costs_nothing),
        cmocka_unit_test(a_frozen_dense_layer_costs_nothing),
        cmocka_unit_test(statistics_stay_only_where_asked),
        cmocka_unit_test(frozen_statistics_are_used),
        cmocka_unit_test(sharpness_is_of_what_is_trained),
        cmocka_unit_test(a_run_goes_on_with_the_same_parts_frozen),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
