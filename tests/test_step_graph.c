/*
 * test_step_graph.c - updates that a device repeats as a whole: the same bits as kernel by kernel, written down again
 * when a shape, an address or a setting changes, not at all where an update is more than one pass over one piece. On
 * the device simt, or on what GRADUS_TEST_DEVICE names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <gradus.h>

#include "core/context.h"
#include "nn/module.h"

enum { SIDE = 8, IMAGES = 22, BATCH = 8 /* 8, 8 and 6 */, EPOCHS = 3, UPDATES = 3 * EPOCHS };

/* --- a device that counts ----------------------------------------------------------------------------------------- */

static int captures, replays;
static bool (*real_capture)(gr_device *d);
static bool (*real_replay)(gr_device *d, void *graph);

static bool count_capture(gr_device *d)
{
    captures++;
    return real_capture(d);
}

static bool count_replay(gr_device *d, void *graph)
{
    replays++;
    return real_replay(d, graph);
}

static gr_context *open_counting(gr_precision precision)
{
    const char *named = getenv("GRADUS_TEST_DEVICE");
    gr_context *ctx = gr_open(&(gr_options){.device = named ? named : "simt", .seed = 3, .precision = precision});
    assert_string_equal(gr_error_text(ctx), "");
    captures = replays = 0;
    real_capture = ctx->device->capture_begin;
    real_replay = ctx->device->replay;
    ctx->device->capture_begin = count_capture;
    ctx->device->replay = count_replay;
    return ctx;
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

/* Convolution, batch normalisation, dropout, a dense layer whose update is fused with its backward pass. */
static gr_module *make_net(gr_context *ctx)
{
    return gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 4, .kernel = 3}),
                         gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx), gr_max_pool2d_layer(ctx, 2),
                         gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 5}),
                         gr_relu_layer(ctx), gr_dropout_layer(ctx, 0.3),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
}

typedef struct {
    bool sgd, muon, no_graph, sam; /* Adam, unless it is another */
    int64_t micro_batch;
    gr_precision precision;
    void (*disturb)(gr_module *net, gr_optimizer *opt, gr_dataset *set, int64_t update); /* NULL: nobody does */
} choice;

typedef struct {
    const choice *c;
    gr_module *net;
    gr_optimizer *opt;
    gr_dataset *set;
} run;

static bool on_report(void *user, const gr_progress *p)
{
    const run *r = user;
    if (r->c->disturb && !p->epoch_end)
        r->c->disturb(r->net, r->opt, r->set, p->update);
    return true;
}

static void collect(gr_module *net, float **values, int64_t *count)
{
    *count = 0;
    *values = NULL;
    for (int i = 0; i < gr_parameter_count(net); i++) {
        const gr_tensor *t = gr_parameter(net, i);
        *values = realloc(*values, (size_t)(*count + gr_count(t)) * sizeof **values);
        assert_true(gr_download(t, *values + *count));
        *count += gr_count(t);
    }
}

/*
 * What a run ends with: all weights, then validation, the only thing that shows the running statistics. For the caller
 * to free.
 */
static float *train(const choice *c, int64_t *count)
{
    gr_context *ctx = open_counting(c->precision);
    run r = {.c = c, .net = make_net(ctx), .set = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1)};
    r.opt = c->sgd    ? gr_sgd(ctx, r.net, &(gr_sgd_options){.lr = 0.05, .momentum = 0.9})
            : c->muon ? gr_muon(ctx, r.net, &(gr_muon_options){.normalise = true})
                      : gr_adam(ctx, r.net, &(gr_adam_options){.lr = 0.01});
    if (c->sam)
        assert_true(gr_set_sam(r.opt, 0.05));
    const gr_split split = {.train = r.set, .val = r.set};
    const gr_fit_result result = gr_fit(r.net, r.opt, split,
                                        &(gr_fit_options){.batch = BATCH,
                                                          .epochs = EPOCHS,
                                                          .schedule = {.kind = GR_COSINE},
                                                          .no_graph = c->no_graph,
                                                          .micro_batch = c->micro_batch,
                                                          .report = on_report,
                                                          .user = &r});
    assert_string_equal(gr_error_text(ctx), "");
    assert_int_equal(result.updates, UPDATES);
    float *values;
    collect(r.net, &values, count);
    values = realloc(values, (size_t)(*count + 2) * sizeof *values);
    values[(*count)++] = (float)result.val.loss;
    values[(*count)++] = (float)result.train_loss;
    assert_int_equal(gr_close(ctx), 0);
    return values;
}

/* Runs it with and without graphs: the same bits, so many captures and replays. */
static void compare(choice c, int expected_captures, int expected_replays)
{
    int64_t counts[2];
    float *repeated = train(&c, &counts[0]);
    assert_int_equal(captures, expected_captures);
    assert_int_equal(replays, expected_replays);
    c.no_graph = true;
    float *plain = train(&c, &counts[1]);
    assert_int_equal(captures + replays, 0);
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(repeated, plain, (size_t)counts[0] * sizeof *plain);
    free(repeated);
    free(plain);
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

/* Each of the two shapes runs once kernel by kernel. */
static void same_bits(void **state)
{
    (void)state;
    compare((choice){0}, 2, UPDATES - 2);
    compare((choice){.sgd = true}, 2, UPDATES - 2);
    compare((choice){.muon = true}, 2, UPDATES - 2);
}

/* The loss scale lives on the device, and so does what becomes of it. */
static void same_bits_in_mixed_precision(void **state)
{
    (void)state;
    compare((choice){.precision = GR_PRECISION_FP16}, 2, UPDATES - 2);
    compare((choice){.muon = true, .precision = GR_PRECISION_BF16}, 2, UPDATES - 2);
}

/* A whole set at once: the step's memory moves, and with it all that the graphs know of. */
static void move_memory(gr_module *net, gr_optimizer *opt, gr_dataset *set, int64_t update)
{
    (void)opt;
    if (update == 5)
        gr_evaluate(net, set);
}

/*
 * Somebody wants a gradient that the fused update never stored: the slab of gradients moves, the batch stays where it
 * is.
 */
static void ask_for_gradients(gr_module *net, gr_optimizer *opt, gr_dataset *set, int64_t update)
{
    (void)opt;
    if (update != 4)
        return;
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = BATCH, .order = GR_IN_ORDER});
    gr_batch batch;
    assert_true(gr_loader_next(loader, &batch) && gr_backward(gr_loss(gr_forward(net, batch.x), &batch)));
    gr_clear_gradients(net->ctx);
    gr_step_end(net->ctx);
    gr_loader_close(loader);
}

static void memory_that_moves(void **state)
{
    (void)state;
    compare((choice){.disturb = move_memory}, 3, UPDATES - 4);
    compare((choice){.disturb = ask_for_gradients}, 3, UPDATES - 4);
}

/* Other weights, whose copies in halves the graph reads. */
static void upload_weights(gr_module *net, gr_optimizer *opt, gr_dataset *set, int64_t update)
{
    (void)opt, (void)set;
    if (update != 4) /* the next one is repeated */
        return;
    gr_tensor *w = gr_parameter(net, 0);
    float *values = malloc(gr__bytes(w));
    assert_true(gr_download(w, values));
    for (int64_t i = 0; i < gr_count(w); i++)
        values[i] += 0.125f;
    assert_true(gr_upload(w, values));
    free(values);
}

static void weights_that_change(void **state)
{
    (void)state;
    compare((choice){.disturb = upload_weights, .precision = GR_PRECISION_BF16}, 2, UPDATES - 2);
    compare((choice){.sgd = true, .disturb = upload_weights, .precision = GR_PRECISION_FP16}, 2, UPDATES - 2);
}

static void change_clip(gr_module *net, gr_optimizer *opt, gr_dataset *set, int64_t update)
{
    (void)net, (void)set;
    if (update == 4)
        assert_true(gr_set_clip(opt, 0.1));
}

static void settings_that_change(void **state)
{
    (void)state;
    compare((choice){.disturb = change_clip}, 3, UPDATES - 4);
}

static void not_several_passes_or_pieces(void **state)
{
    (void)state;
    compare((choice){.sam = true}, 0, 0);
    compare((choice){.micro_batch = 3}, 0, 0);
}

/* Who watches kernels sees every one. */
static void count_events(void *user, const gr_trace_event *event)
{
    *(int *)user += strcmp(event->op, "conv2d") == 0;
}

static void not_while_traced(void **state)
{
    (void)state;
    int seen = 0;
    gr_context *ctx = open_counting(GR_PRECISION_FP32);
    gr_module *net = make_net(ctx);
    gr_split split = {.train = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1)};
    gr_trace(ctx, count_events, &seen);
    gr_fit(net, gr_sgd(ctx, net, NULL), split, &(gr_fit_options){.batch = BATCH, .epochs = EPOCHS, .last = GR_DROP});
    assert_true(gr_ok(ctx) && seen >= 2 * 2 * EPOCHS && replays == 0);
    assert_int_equal(gr_close(ctx), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits),
        cmocka_unit_test(same_bits_in_mixed_precision),
        cmocka_unit_test(memory_that_moves),
        cmocka_unit_test(weights_that_change),
        cmocka_unit_test(settings_that_change),
        cmocka_unit_test(not_several_passes_or_pieces),
        cmocka_unit_test(not_while_traced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
