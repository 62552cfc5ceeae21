/*
 * test_accumulation.c - the gradient of a batch in pieces is the batch's own: 500 random batches, splits, sets and
 * last-batch policies over models without batch normalisation; and what gr_fit makes of micro-batches, losses and
 * memory included.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/philox.h"
#include "gradus.h"

enum { PAIRS = 500, MODELS = 5, LARGEST = 12 /* samples in a batch */ };

/* Flatten, Dense 6 with a penalty, ReLU, Dense 3. */
static gr_module *penalised(gr_context *ctx)
{
    return gr_sequential(ctx, gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 6, .l2 = 0.01}),
                         gr_relu_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 3}), NULL);
}

static gr_module *flat_keras_mlp(gr_context *ctx)
{
    return gr_sequential(ctx, gr_flatten_layer(ctx), gr_keras_mlp(ctx), NULL);
}

/* The recipes' models, on images small enough for plain loops. */
static const struct {
    gr_module *(*make)(gr_context *ctx);
    int side;
} models[MODELS] = {
    {gr_cats_vs_dogs_net, 8}, {gr_cifar10_cnn, 18}, {gr_mnist_mlp, 6}, {flat_keras_mlp, 4}, {penalised, 5}};

/* The convolutions of cifar10-cnn take plain loops longest: one pair in twenty is theirs. */
static const int turns[20] = {0, 1, 2, 3, 4, 0, 2, 3, 4, 2, 0, 2, 3, 4, 0, 2, 3, 4, 0, 3};

/* What is drawn for one comparison. */
typedef struct {
    int64_t set, batch, micro;
    gr_last_batch last;
} split;

static split draw(int pair)
{
    uint32_t word[4];
    gr__philox((uint32_t[4]){(uint32_t)pair, 0, 0, 0}, (uint32_t[2]){2024, 7}, word);
    split s = {.batch = 2 + word[0] % (LARGEST - 1), .last = (gr_last_batch)(word[3] % 4)};
    s.micro = 1 + (int64_t)word[1] % (s.batch - 1);
    s.set = s.batch + (int64_t)word[2] % s.batch; /* a whole batch and, but for once in batch, a tail */
    return s;
}

/* All gradients of a model one after the other, as doubles, for the caller to free. */
static double *gradients(gr_module *net, int64_t *count)
{
    *count = 0;
    for (int i = 0; i < gr_parameter_count(net); i++)
        *count += gr_count(gr_parameter(net, i));
    double *all = malloc((size_t)*count * sizeof *all), *at = all;
    for (int i = 0; i < gr_parameter_count(net); i++) {
        gr_tensor *g = gr_grad(gr_parameter(net, i));
        int64_t n = gr_count(g);
        assert_true(gr_download(g, at));
        for (int64_t j = n - 1; j >= 0 && gr_type_of(g) == GR_F32; j--) /* from the end, in place */
            at[j] = (double)((float *)at)[j];
        at += n;
    }
    return all;
}

/* Forward and backward of the next batch, in its pieces; returns its loss. NAN: the epoch is over. */
static double accumulate(gr_module *net, gr_context *ctx, gr_loader *loader, int64_t *samples)
{
    gr_batch piece = {0};
    double loss = 0;
    *samples = 0;
    gr_clear_gradients(ctx);
    while (!piece.last) {
        if (!gr_loader_next(loader, &piece))
            return (double)NAN;
        gr_tensor *l = gr_loss(gr_forward(net, piece.x), &piece);
        l = piece.first ? gr_add_penalty(net, l) : l;
        loss += gr_item(l);
        *samples += piece.samples;
        assert_true(gr_backward(l));
        gr_step_end(ctx);
    }
    return loss;
}

/* One drawn case: every batch of an epoch whole and in pieces. */
static void compare(gr_context *ctx, gr_module *net, int side, const split *s, double tolerance)
{
    gr_dataset *set = gr_procedural(ctx, s->set, side, side, (uint64_t)s->set);
    gr_loader *loaders[2];
    for (int i = 0; i < 2; i++)
        loaders[i] = gr_loader_open(
            set, &(gr_loader_options){.batch = s->batch, .last = s->last, .micro_batch = i ? s->micro : 0});
    for (;;) {
        int64_t count, samples[2];
        double loss = accumulate(net, ctx, loaders[0], &samples[0]);
        if (isnan(loss))
            break;
        double *whole = gradients(net, &count), largest = 0;
        double other = accumulate(net, ctx, loaders[1], &samples[1]), *pieces = gradients(net, &count);
        assert_int_equal(samples[0], samples[1]);
        assert_true(fabs(other - loss) <= tolerance * fabs(loss));
        for (int64_t i = 0; i < count; i++)
            largest = fmax(largest, fabs(whole[i]));
        for (int64_t i = 0; i < count; i++)
            if (!(fabs(pieces[i] - whole[i]) <= tolerance * largest))
                fail_msg("set %lld, batch %lld in pieces of %lld, policy %d: gradient %lld is %.17g, not %.17g "
                         "(largest %.3g)",
                         (long long)s->set, (long long)s->batch, (long long)s->micro, (int)s->last, (long long)i,
                         pieces[i], whole[i], largest);
        free(whole);
        free(pieces);
    }
    int64_t none;
    assert_true(isnan(accumulate(net, ctx, loaders[1], &none)));
    for (int i = 0; i < 2; i++)
        gr_loader_close(loaders[i]);
    assert_true(gr_ok(ctx));
}

/*
 * In double the two differ by rounding alone. In float a gradient is a sum over at most K = samples x positions terms,
 * cut in other places: the table's bound with c = 4, 4 eps sqrt(K), and the largest gradient in place of the sum of the
 * terms' sizes.
 */
static void pieces_add_up_on(const char *device)
{
    for (int m = 0; m < MODELS; m++) {
        const int side = models[m].side;
        gr_context *ctx = gr_open(&(gr_options){.device = device, .seed = 5});
        gr_module *net = models[m].make(ctx);
        const double K = (double)LARGEST * side * side;
        for (int pair = 0; pair < PAIRS; pair++) {
            if (turns[pair % 20] != m)
                continue;
            const split s = draw(pair);
            compare(ctx, net, side, &s, gr_real(ctx) == GR_F64 ? 1e-12 : 4 * (double)FLT_EPSILON * sqrt(K));
        }
        assert_int_equal(gr_close(ctx), 0);
    }
}

static void pieces_add_up_in_double(void **state)
{
    (void)state;
    pieces_add_up_on("ref");
}

static void pieces_add_up_in_float(void **state)
{
    (void)state;
    pieces_add_up_on("cpu");
}

/* --- gr_fit ------------------------------------------------------------------------------------------------------- */

enum { SIDE = 8, IMAGES = 50 };

typedef struct {
    gr_fit_result result;
    double weights[4096];
    int64_t count, memory;
} trained;

/* Two epochs of cats-vs-dogs' network with batches of 20: two of them and a tail of 10. */
static void fit(int64_t micro, gr_last_batch last, int kind, trained *t)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "ref", .seed = 5});
    gr_module *net = penalised(ctx);
    gr_optimizer *opt = kind == 3 ? gr_prox(ctx, net, &(gr_prox_options){.lr = 0.02, .steps = 3})
                                  : gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.05, .momentum = 0.9});
    gr_set_sam(opt, kind == 1 ? 0.1 : 0);
    gr_set_clip(opt, kind == 2 ? 0.2 : 0);
    gr_split part = {.train = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1)};
    t->result = gr_fit(net, opt, part, &(gr_fit_options){.batch = 20, .micro_batch = micro, .epochs = 2, .last = last});
    t->count = 0;
    for (int i = 0; i < gr_parameter_count(net); t->count += gr_count(gr_parameter(net, i)), i++)
        assert_true(gr_download(gr_parameter(net, i), t->weights + t->count));
    t->memory = gr_memory_use(ctx).peak;
    assert_int_equal(gr_close(ctx), 0);
}

/*
 * The same run whatever the pieces: weights, losses, accuracies, counts - for every last batch, plain, SAM, clipped and
 * prox.
 */
static void fit_trains_alike(void **state)
{
    (void)state;
    static trained whole, pieces;
    for (int kind = 0; kind < 4; kind++)
        for (int last = GR_KEEP; last <= GR_WRAP; last++) {
            fit(0, (gr_last_batch)last, kind, &whole);
            for (int64_t micro = 3; micro <= 20; micro += 4) { /* 3, 7, 11, 15, 19: none divides 20 */
                fit(micro, (gr_last_batch)last, kind, &pieces);
                assert_int_equal(whole.result.updates, pieces.result.updates);
                assert_int_equal(whole.result.samples, pieces.result.samples);
                assert_true(fabs(whole.result.train_loss - pieces.result.train_loss) < 1e-11);
                assert_true(fabs(whole.result.train_accuracy - pieces.result.train_accuracy) < 1e-11);
                for (int64_t i = 0; i < whole.count; i++)
                    assert_true(fabs(whole.weights[i] - pieces.weights[i]) < 1e-11);
                assert_true(pieces.memory < whole.memory || micro > 15);
            }
        }
}

/* --- batch sizes by epoch ----------------------------------------------------------------------------------------- */

static bool note_batch(void *user, const gr_progress *p)
{
    int64_t *sizes = user; /* by epoch, 1 to 4 */
    sizes[p->epoch] = p->batch;
    return true;
}

/*
 * Epochs 0 and 1 at 10, 2 and 3 at 20: what two loaders make by hand, the second going on with the orders of the first.
 */
static void the_batch_grows(void **state)
{
    (void)state;
    static double weights[2][4096];
    for (int by_hand = 0; by_hand < 2; by_hand++) {
        gr_context *ctx = gr_open(&(gr_options){.device = "ref", .seed = 5});
        gr_module *net = penalised(ctx);
        gr_optimizer *opt = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.05});
        gr_dataset *set = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1);
        const gr_batch_stage stages[] = {{0, 10}, {2, 20}};
        int64_t sizes[5] = {0};
        gr_fit_options o = {
            .stages = stages, .n_stages = 2, .epochs = 4, .last = GR_DROP, .report = note_batch, .user = sizes};
        if (!by_hand) {
            gr_fit_result r = gr_fit(net, opt, (gr_split){.train = set}, &o);
            assert_int_equal(r.updates, 2 * 5 + 2 * 2);
            assert_true(sizes[1] == 10 && sizes[2] == 10 && sizes[3] == 20 && sizes[4] == 20);
        }
        for (int stage = 0; by_hand && stage < 2; stage++) {
            gr_loader *loader = gr_loader_open(
                set, &(gr_loader_options){.batch = stages[stage].batch, .last = GR_DROP, .epoch = stages[stage].epoch});
            gr_batch batch;
            for (int epoch = 0; epoch < 2; epoch++)
                while (gr_loader_next(loader, &batch)) {
                    assert_true(gr_minimize(opt, gr_add_penalty(net, gr_loss(gr_forward(net, batch.x), &batch))));
                    gr_step_end(ctx);
                }
        }
        double *at = weights[by_hand];
        for (int i = 0; i < gr_parameter_count(net); at += gr_count(gr_parameter(net, i)), i++)
            assert_true(gr_download(gr_parameter(net, i), at));
        assert_int_equal(gr_close(ctx), 0);
    }
    assert_memory_equal(weights[0], weights[1], sizeof weights[0]);
}

static void stages_are_checked(void **state)
{
    (void)state;
    const gr_batch_stage late[] = {{1, 10}}, twice[] = {{0, 10}, {0, 20}}, none[] = {{0, 0}},
                         good[] = {{0, 10}, {1, 20}};
    const gr_fit_options bad[] = {{.stages = late, .n_stages = 1, .epochs = 2},
                                  {.stages = twice, .n_stages = 2, .epochs = 2},
                                  {.stages = none, .n_stages = 1, .epochs = 2},
                                  {.stages = good, .n_stages = 2, .updates = 5, .schedule.kind = GR_COSINE}};
    gr_context *ctx = gr_open(NULL);
    gr_module *net = penalised(ctx);
    gr_optimizer *opt = gr_sgd(ctx, net, NULL);
    gr_split part = {.train = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gr_fit(net, opt, part, &bad[i]);
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        assert_non_null(strstr(gr_error_text(ctx), "stages"));
        gr_clear_error(ctx);
    }
    gr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_add_up_in_double), cmocka_unit_test(pieces_add_up_in_float),
        cmocka_unit_test(fit_trains_alike),        cmocka_unit_test(the_batch_grows),
        cmocka_unit_test(stages_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
