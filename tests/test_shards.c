/*
 * test_shards.c - a batch in shards: the sum of their gradients is the tree that it is said to be, to the bit; it is
 * the batch's own to rounding; a shard without samples changes nothing; running statistics are the mean of the shards'.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gradus.h"
#include "nn/module.h"

enum { SIDE = 6, MOST = 4096 /* parameters of a model here */ };

/* Flatten, Dense 6 with a penalty, ReLU, Dense 3. */
static gr_module *penalised(gr_context *ctx)
{
    return gr_sequential(ctx, gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 6, .l2 = 0.01}),
                         gr_relu_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 3}), NULL);
}

static gr_module *normalised(gr_context *ctx)
{
    return gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 3, .kernel = 3, .no_bias = true}),
                         gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx), gr_flatten_layer(ctx),
                         gr_dropout_layer(ctx, 0.3), gr_dense_layer(ctx, &(gr_dense_options){.units = 3}), NULL);
}

/* All parameters one after the other; returns how many. */
static int64_t weights_of(gr_module *net, double *w)
{
    int64_t count = 0;
    for (int i = 0; i < gr_parameter_count(net); count += gr_count(gr_parameter(net, i)), i++)
        assert_true(gr_download(gr_parameter(net, i), w + count));
    return count;
}

/* The gradient of one shard, as its pieces leave it. */
static void shard_gradient(gr_module *net, gr_context *ctx, gr_loader *loader, double *g)
{
    gr_batch piece = {0};
    gr_clear_gradients(ctx);
    while (!piece.shard_last) {
        assert_true(gr_loader_next(loader, &piece));
        gr_tensor *loss = gr_loss(gr_forward(net, piece.x), &piece);
        assert_true(gr_backward(piece.first ? gr_add_penalty(net, loss) : loss));
        gr_step_end(ctx);
    }
    for (int i = 0; i < gr_parameter_count(net); g += gr_count(gr_parameter(net, i)), i++)
        assert_true(gr_download(gr_grad(gr_parameter(net, i)), g));
}

/* One update by gr_fit against one written out: w - lr ((g0 + g1) + (g2 + g3)), in pieces of two rows and one. */
static void the_sum_is_the_tree(void **state)
{
    (void)state;
    static double before[MOST], after[MOST], g[4][MOST];
    enum { SHARDS = 4, BATCH = 11 };
    const double lr = 0.37;
    gr_context *ctx = gr_open(&(gr_options){.device = "ref", .seed = 3});
    gr_dataset *set = gr_procedural(ctx, BATCH, SIDE, SIDE, 1);
    gr_module *net = penalised(ctx);
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = BATCH, .micro_batch = 2, .shards = SHARDS});
    for (int s = 0; s < SHARDS; s++)
        shard_gradient(net, ctx, loader, g[s]);
    gr_clear_gradients(ctx);
    const int64_t count = weights_of(net, before);
    gr_optimizer *opt = gr_sgd(ctx, net, &(gr_sgd_options){.lr = lr});
    gr_fit(net, opt, (gr_split){.train = set},
           &(gr_fit_options){.batch = BATCH, .micro_batch = 2, .shards = SHARDS, .updates = 1});
    weights_of(net, after);
    for (int64_t i = 0; i < count; i++)
        assert_true(after[i] == before[i] - lr * ((g[0][i] + g[1][i]) + (g[2][i] + g[3][i])));
    assert_int_equal(gr_close(ctx), 0);
}

typedef struct {
    gr_fit_result result;
    double weights[MOST];
    int64_t count;
} trained;

/* Two epochs over 50 images, 20 a batch: two batches and a tail of 10. */
static void fit(int shards, int64_t micro, gr_last_batch last, int kind, trained *t)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "ref", .seed = 5});
    gr_module *net = penalised(ctx);
    gr_optimizer *opt = kind == 3 ? gr_prox(ctx, net, &(gr_prox_options){.lr = 0.02, .steps = 3})
                                  : gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.05, .momentum = 0.9});
    gr_set_sam(opt, kind == 1 ? 0.1 : 0);
    gr_set_clip(opt, kind == 2 ? 0.2 : 0);
    gr_split part = {.train = gr_procedural(ctx, 50, SIDE, SIDE, 1)};
    t->result =
        gr_fit(net, opt, part,
               &(gr_fit_options){.batch = 20, .shards = shards, .micro_batch = micro, .epochs = 2, .last = last});
    t->count = weights_of(net, t->weights);
    assert_int_equal(gr_close(ctx), 0);
}

/* To rounding the same run whatever the shards, also more of them than the last batch has samples. */
static void shards_add_up(void **state)
{
    (void)state;
    static trained whole, cut;
    for (int kind = 0; kind < 4; kind++)
        for (int last = GR_KEEP; last <= GR_WRAP; last++) {
            fit(1, 0, (gr_last_batch)last, kind, &whole);
            for (int shards = 2; shards <= 64; shards *= 2) {
                fit(shards, shards == 4 ? 3 : 0, (gr_last_batch)last, kind, &cut);
                assert_int_equal(whole.result.updates, cut.result.updates);
                assert_int_equal(whole.result.samples, cut.result.samples);
                assert_true(fabs(whole.result.train_loss - cut.result.train_loss) < 1e-11);
                assert_true(fabs(whole.result.train_accuracy - cut.result.train_accuracy) < 1e-11);
                for (int64_t i = 0; i < whole.count; i++)
                    assert_true(fabs(whole.weights[i] - cut.weights[i]) < 1e-11);
            }
        }
}

static void running_statistics(gr_module *net, double values[6])
{
    const gr_slab *slab = net->parameters->statistics->slab;
    for (int i = 0; i < slab->n; i++)
        assert_true(gr_download(slab->segments[i].value, values + 3 * i));
}

/* One update over so many samples in shards of two rows, of which the set has but the first two, again and again. */
static void statistics_of(int64_t samples, int shards, gr_last_batch last, double values[6])
{
    gr_context *ctx = gr_open(&(gr_options){.device = "ref", .seed = 5});
    int64_t picks[16];
    for (int64_t i = 0; i < samples; i++)
        picks[i] = i % 2;
    gr_dataset *set = gr_dataset_select(gr_procedural(ctx, 2, SIDE, SIDE, 1), samples, picks);
    gr_module *net = normalised(ctx);
    gr_optimizer *opt = gr_sgd(ctx, net, NULL);
    gr_fit_options o = {.batch = 2 * shards, .shards = shards, .updates = 1, .last = last, .order = GR_IN_ORDER};
    const gr_fit_result r = gr_fit(net, opt, (gr_split){.train = set}, &o);
    assert_int_equal(r.samples, samples);
    running_statistics(net, values);
    assert_int_equal(gr_close(ctx), 0);
}

/* Shards with the same pictures have the statistics of one of them; padding alone is no shard. */
static void running_statistics_are_the_mean(void **state)
{
    (void)state;
    double one[6], many[6];
    statistics_of(2, 1, GR_KEEP, one);
    statistics_of(16, 8, GR_KEEP, many);
    assert_memory_equal(one, many, sizeof one); /* sums of equal numbers, and their halves, are exact */
    statistics_of(6, 8, GR_PAD, many);          /* three shards and five that are empty */
    for (int i = 0; i < 6; i++)
        assert_true(isfinite(many[i]) && fabs(one[i] - many[i]) < 1e-14);
}

static void are_checked(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_module *net = penalised(ctx);
    gr_optimizer *opt = gr_sgd(ctx, net, NULL);
    gr_split part = {.train = gr_procedural(ctx, 20, SIDE, SIDE, 1)};
    const gr_fit_options bad[] = {{.batch = 10, .updates = 1, .shards = 3},
                                  {.batch = 10, .updates = 1, .shards = -2},
                                  {.batch = 10, .updates = 1, .shards = 512},
                                  {.batch = 10, .updates = 1, .shards = 2, .micro_batch = 2, .noise_scale = true}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gr_fit(net, opt, part, &bad[i]);
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        assert_non_null(strstr(gr_error_text(ctx), "shard"));
        gr_clear_error(ctx);
    }
    const gr_loader_options ranks[] = {
        {.batch = 10, .shards = 4, .ranks = 8}, {.batch = 10, .shards = 4, .ranks = 2, .rank = 2}, {10, .shards = 6}};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        assert_null(gr_loader_open(part.train, &ranks[i]));
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        gr_clear_error(ctx);
    }
    gr_close(ctx);
}

static void same_piece(const gr_batch *a, const gr_batch *b)
{
    int32_t label[2] = {-1, -2};
    double x[2][SIDE * SIDE * 3];
    assert_true(a->n == 1 && b->n == 1 && a->row == b->row && a->shard == b->shard && a->whole == b->whole);
    assert_true(gr_download(a->y, &label[0]) && gr_download(b->y, &label[1]) && label[0] == label[1]);
    assert_true(gr_download(a->x, x[0]) && gr_download(b->x, x[1]));
    assert_memory_equal(x[0], x[1], sizeof x[0]);
}

/* An epoch of 8 shards of a row each from one loader, and from four of two shards each. */
static void deal_out(gr_loader *whole, gr_loader *const part[4])
{
    gr_batch all, own;
    while (gr_loader_next(whole, &all)) {
        assert_true(gr_loader_next(part[all.shard / 2], &own));
        same_piece(&all, &own);
        assert_true(own.last == (all.last || all.shard % 2));
        for (int other = (all.shards + 1) / 2; all.last && other < 4; other++) /* none of the batch is theirs */
            assert_true(gr_loader_next(part[other], &own) && own.n == 0 && own.last && !own.x &&
                        own.whole == all.whole);
        gr_step_end(all.x->ctx);
    }
    for (int r = 0; r < 4; r++)
        assert_false(gr_loader_next(part[r], &own));
}

/* Every row once, each from its rank; 19 images leave a last batch of 3. */
static void loaders_share_a_batch(void **state)
{
    (void)state;
    for (int workers = GR_NO_WORKERS; workers <= 2; workers += 3)
        for (int last = GR_KEEP; last <= GR_WRAP; last++) {
            gr_context *ctx = gr_open(&(gr_options){.device = "ref", .seed = 5});
            gr_dataset *set = gr_procedural(ctx, 19, SIDE, SIDE, 1);
            gr_loader_options o = {.batch = 8, .last = (gr_last_batch)last, .shards = 8, .workers = workers};
            gr_loader *whole = gr_loader_open(set, &o), *part[4];
            for (o.ranks = 4; o.rank < 4; o.rank++)
                part[o.rank] = gr_loader_open(set, &o);
            deal_out(whole, part);
            assert_int_equal(gr_close(ctx), 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_is_the_tree),
        cmocka_unit_test(shards_add_up),
        cmocka_unit_test(running_statistics_are_the_mean),
        cmocka_unit_test(are_checked),
        cmocka_unit_test(loaders_share_a_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
