/*
 * test_models.c - models from text: the files of examples/models are the recipes' networks bit for bit; every layer and
 * word; and what is said of texts that are none, by line and column.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"
#include "gradus.h"

/* --- the recipes' networks ---------------------------------------------------------------------------------------- */

static gr_module *cats(gr_context *ctx, int classes)
{
    assert_int_equal(classes, 2);
    return gr_cats_vs_dogs_net(ctx);
}
static gr_module *cnn(gr_context *ctx, int classes)
{
    assert_int_equal(classes, 10);
    return gr_cifar10_cnn(ctx);
}
static gr_module *keras(gr_context *ctx, int classes)
{
    assert_int_equal(classes, 2);
    return gr_keras_mlp(ctx);
}
static gr_module *mnist(gr_context *ctx, int classes)
{
    assert_int_equal(classes, 10);
    return gr_mnist_mlp(ctx);
}

static const struct {
    const char *name;
    gr_module *(*net)(gr_context *ctx, int classes);
    int classes, side, channels;
} published[] = {{"cats-vs-dogs", cats, 2, 24, 3},
                 {"cifar10-cnn", cnn, 10, 32, 3},
                 {"keras-mlp", keras, 2, 2, 1},
                 {"mnist-mlp", mnist, 10, 28, 1},
                 {"fashion-mlp", mnist, 10, 28, 1},
                 {"resnet18-cifar", gr_resnet18_cifar, 10, 8, 3},
                 {"resnet18-article", gr_resnet18, 10, 32, 3}};
enum { PUBLISHED = sizeof published / sizeof *published, UPDATES = 2 };

/* A few updates on drawn pictures. */
static void train(gr_context *ctx, gr_module *net, gr_dataset *set, double losses[UPDATES])
{
    gr_optimizer *opt = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.01, .momentum = 0.9});
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = 4});
    gr_batch batch;
    for (int i = 0; i < UPDATES; i++) {
        float value;
        assert_true(gr_loader_next(loader, &batch));
        gr_tensor *loss = gr_add_penalty(net, gr_loss(gr_forward(net, batch.x), &batch));
        gr_minimize(opt, loss);
        assert_true(gr_download(loss, &value));
        losses[i] = (double)value;
        gr_step_end(ctx);
    }
    assert_true(gr_ok(ctx));
}

static void same_parameters(const gr_module *a, const gr_module *b)
{
    assert_int_equal(gr_parameter_count(a), gr_parameter_count(b));
    assert_true(gr_parameter_count(a) > 0);
    for (int i = 0; i < gr_parameter_count(a); i++) {
        const int64_t n = gr_count(gr_parameter(a, i));
        assert_string_equal(gr_parameter_name(a, i), gr_parameter_name(b, i));
        assert_int_equal(n, gr_count(gr_parameter(b, i)));
        float *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
        assert_true(gr_download(gr_parameter(a, i), x) && gr_download(gr_parameter(b, i), y));
        if (memcmp(x, y, (size_t)n * sizeof *x) != 0)
            fail_msg("%s differs", gr_parameter_name(a, i));
        free(x);
        free(y);
    }
}

/* Drawn samples of the shape that the network wants. */
static gr_dataset *samples(gr_context *ctx, int side, int channels)
{
    if (side == 2)
        return gr_table_classes(ctx, 16, side, 1);
    return (channels == 1 ? gr_procedural_grey : gr_procedural)(ctx, 16, side, side, 1);
}

/* The network of a published experiment, made by its function and read from its file, each in a context of its own. */
static void file_is_the_recipes_network(int i)
{
    char path[512];
    double losses[2][UPDATES];
    gr_context *ctx[2];
    gr_module *net[2];
    gr_dataset *set[2];
    snprintf(path, sizeof path, GRADUS_TESTS "/../examples/models/%s.txt", published[i].name);
    for (int k = 0; k < 2; k++) {
        int64_t shape[3];
        ctx[k] = gr_open(&(gr_options){.device = "cpu", .seed = 7});
        set[k] = samples(ctx[k], published[i].side, published[i].channels);
        gr_dataset_shape(set[k], shape);
        net[k] =
            k ? gr_model_from_file(ctx[k], path, published[i].classes) : published[i].net(ctx[k], published[i].classes);
        if (!gr_module_build(net[k], 3, shape))
            fail_msg("%s: %s", path, gr_error_text(ctx[k]));
    }
    same_parameters(net[0], net[1]);
    for (int k = 0; k < 2; k++)
        train(ctx[k], net[k], set[k], losses[k]);
    assert_memory_equal(losses[0], losses[1], sizeof losses[0]);
    same_parameters(net[0], net[1]);
    assert_null(gr_model_text(net[0]));
    assert_non_null(strstr(gr_model_text(net[1]), "dense"));
    gr_close(ctx[0]);
    gr_close(ctx[1]);
}

static void files_are_the_recipes_networks(void **state)
{
    (void)state;
    for (int i = 0; i < PUBLISHED; i++)
        file_is_the_recipes_network(i);
}

/* --- every word --------------------------------------------------------------------------------------------------- */

static gr_module *read_text(gr_context *ctx, const char *text)
{
    gr_module *net = gr_model_from_text(ctx, "m.txt", text, 3);
    if (net)
        gr_module_build(net, 3, (int64_t[]){16, 16, 3});
    return net;
}

static void every_word_is_understood(void **state)
{
    (void)state;
    static const char text[] = "# every layer and every word\r\n"
                               "\tconv 4 3 same stride 2 he_uniform relu   # a comment, of any text: \xc3\xa4\r\n"
                               "conv 4 1x3 pad 0 no_bias glorot_uniform silu\n"
                               "pool 2x1 stride 1\n"
                               "\n"
                               "pool 2 same\n"
                               "batch_norm epsilon 1.5e-3 momentum 0 gelu named norm\n"
                               "residual{\n"
                               "    conv 4 3 same kaiming_uniform tanh\n"
                               "    batch_norm\n"
                               "} shortcut {\n"
                               "    conv 4 1 kaiming_normal\n"
                               "}\n"
                               "group head {\n"
                               "    flatten\n"
                               "    dropout 0.25\n"
                               "    scale 0.5\n"
                               "    dense 5 l2 0.01 sigmoid named fc\n"
                               "}\n"
                               "exp\n"
                               "dense classes no_bias # no line end";
    static const char *const names[] = {"conv1.weight",
                                        "conv1.bias",
                                        "conv2.weight",
                                        "norm.weight",
                                        "norm.bias",
                                        "block1.conv1.weight",
                                        "block1.conv1.bias",
                                        "block1.bn1.weight",
                                        "block1.bn1.bias",
                                        "block1.downsample.0.weight",
                                        "block1.downsample.0.bias",
                                        "head.fc.weight",
                                        "head.fc.bias",
                                        "dense1.weight"};
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .seed = 1});
    gr_module *net = read_text(ctx, text);
    if (!gr_ok(ctx))
        fail_msg("%s", gr_error_text(ctx));
    assert_int_equal(gr_parameter_count(net), (int)(sizeof names / sizeof *names));
    for (int i = 0; i < gr_parameter_count(net); i++)
        assert_string_equal(gr_parameter_name(net, i), names[i]);
    assert_int_equal(gr_dim(gr_parameter(net, 13), 1), 3);
    assert_string_equal(gr_model_text(net), text);
    double losses[UPDATES];
    train(ctx, net, gr_procedural(ctx, 16, 16, 16, 1), losses);
    assert_true(isfinite(losses[UPDATES - 1]));
    gr_close(ctx);
}

/* Numbers mean what they say, whatever the locale: a penalty's coefficient is the one that C reads. */
static void numbers_are_read_exactly(void **state)
{
    (void)state;
    static const char *const numbers[] = {"0.01", "5e-4", "1.5e-3", "0.1", "12", "0.000123"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        float loss[2];
        for (int k = 0; k < 2; k++) {
            char text[64];
            gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .seed = 1});
            snprintf(text, sizeof text, "flatten\ndense classes l2 %s", numbers[i]);
            gr_module *net =
                k ? gr_model_from_text(ctx, "m.txt", text, 3)
                  : gr_sequential(ctx, gr_flatten_layer(ctx),
                                  gr_dense_layer(ctx, &(gr_dense_options){.units = 3, .l2 = strtod(numbers[i], NULL)}),
                                  NULL);
            assert_true(gr_module_build(net, 3, (int64_t[]){4, 4, 3}));
            gr_tensor *zero = gr_variable(ctx, 0, NULL);
            assert_true(gr_upload(zero, (float[]){0}) && gr_download(gr_add_penalty(net, gr_relu(zero)), &loss[k]));
            gr_close(ctx);
        }
        assert_true(loss[0] > 0);
        assert_memory_equal(&loss[0], &loss[1], sizeof loss[0]);
    }
}

/* --- texts that are no models ------------------------------------------------------------------------------------- */

static const struct {
    const char *text, *place; /* "LINE:COLUMN" */
    const char *thing, *cure;
} hostile[] = {
    {"", "1:1", "no layers", "one a line"},
    {"# nothing but words\n\n", "2:1", "no layers", "dense classes"},
    {"flatten\ndens classes", "2:1", "no layer \"dens\"", "dense"},
    {"Dense classes", "1:1", "no layer \"Dense\"", "dense"},
    {"conv", "1:5", "number of filters is missing", "whole number"},
    {"conv 0 3", "1:6", "number of filters is \"0\"", "from 1 to 65536"},
    {"conv 65537 3", "1:6", "\"65537\"", "65536"},
    {"conv 99999999999999999999 3", "1:6", "99999999999999999999", "65536"},
    {"conv -8 3", "1:6", "\"-8\"", "from 1"},
    {"conv 8.5 3", "1:6", "\"8.5\"", "whole number"},
    {"conv 0x10 3", "1:6", "\"0x10\"", "whole number"},
    {"conv classes 3", "1:6", "\"classes\"", "whole number"},
    {"conv 8", "1:7", "window's size is missing", "3x3"},
    {"conv 8 3x", "1:8", "\"3x\"", "3x3"},
    {"conv 8 0x3", "1:8", "\"0x3\"", "from 1 to 255"},
    {"conv 8 3x3x3", "1:8", "\"3x3x3\"", "3x3"},
    {"conv 8 256", "1:8", "\"256\"", "255"},
    {"conv 8 3 stride", "1:16", "stride is missing", "whole number"},
    {"conv 8 3 stride 0", "1:17", "stride is \"0\"", "from 1"},
    {"conv 8 3 pad 3", "1:15", "padding is 3", "smaller than the window"},
    {"conv 8 1x3 pad 1", "1:17", "window 1x3", "smaller than the window"},
    {"conv 8 3x1 pad 1", "1:17", "window 3x1", "smaller than the window"},
    {"conv 8 3 same pad 1", "1:20", "\"same\" and \"pad\"", "one of them"},
    {"conv 8 3 same same", "1:15", "\"same\"", "too many"},
    {"conv 8 3 relu gelu", "1:15", "\"gelu\"", "too many"},
    {"conv 8 3 relu same", "1:15", "\"same\" stands behind relu", "before"},
    {"conv 8 3 l2 0.1", "1:10", "conv does not take \"l2\"", "conv FILTERS SIZE"},
    {"conv 8 3 he_uniform glorot_uniform", "1:21", "glorot_uniform", "too many"},
    {"conv 8 3, same", "1:8", "\"3,\"", "3x3"},
    {"flatten\ndense 3 dirac", "2:1", "dirac", "filters"},
    {"flatten\nscale\ndense 3", "2:6", "factor is missing", "number"},
    {"flatten\nscale 0\ndense 3", "2:7", "scale 0", "above 0"},
    {"flatten\nscale -1\ndense 3", "2:7", "factor is \"-1\"", "number"},
    {"pool", "1:5", "window's size is missing", "3x3"},
    {"pool 16x16", "1:6", "16x16", "255 elements"},
    {"pool 2 relu", "1:8", "pool does not take \"relu\"", "pool SIZE"},
    {"flatten 3", "1:9", "flatten does not take \"3\"", "flatten"},
    {"relu 0.1", "1:6", "\"0.1\" behind relu", "one layer"},
    {"dense", "1:6", "units", "classes"},
    {"dense 10 l2 -1", "1:13", "l2 is \"-1\"", "from 0"},
    {"dense 10 l2 nan", "1:13", "\"nan\"", "number from 0"},
    {"dense 10 l2 1e", "1:13", "\"1e\"", "number from 0"},
    {"dense 10 l2 1e99", "1:13", "\"1e99\"", "number from 0"},
    {"dense 10 l2 .", "1:13", "\".\"", "number from 0"},
    {"dense 10 named 2nd", "1:16", "begins with a letter", "at most 15"},
    {"dense 10 named a.b", "1:16", "begins with a letter", "at most 15"},
    {"dense 10 named abcdefghijklmnop", "1:16", "at most 15", "letter"},
    {"dense 10 named", "1:15", "a name is missing", "letter"},
    {"dense 10 named conv7", "1:16", "\"conv7\"", "another name"},
    {"flatten\ndense 10 named a\ndense 10 named a", "3:16", "line 2 has a layer named \"a\"", "another"},
    {"dropout", "1:8", "share that dropout drops is missing", "from 0 to 1"},
    {"dropout 1", "1:9", "drops everything", "0.5"},
    {"dropout 50", "1:9", "\"50\"", "from 0 to 1"},
    {"batch_norm epsilon 0", "1:21", "epsilon is 0", "1e-5"},
    {"batch_norm momentum 2", "1:21", "momentum is \"2\"", "from 0 to 1"},
    {"residual", "1:9", "residual", "{"},
    {"residual conv 8 3", "1:10", "residual", "{"},
    {"residual { relu", "1:12", "\"relu\" behind {", "one layer"},
    {"residual {\n}", "2:1", "no layers", "{ and }"},
    {"flatten\nresidual {\n relu\n", "2:10", "{ is not closed", "}"},
    {"residual {\nrelu\n} relu\n", "3:3", "\"relu\" behind }", "one layer"},
    {"residual {\nrelu\n} shortcut\n", "3:11", "shortcut", "{"},
    {"relu\n}", "2:1", "closes nothing", "}"},
    {"} shortcut {\nrelu\n}", "1:1", "closes nothing", "}"},
    {"shortcut {\nrelu\n}", "1:1", "no layer \"shortcut\"", "residual"},
    {"group {\nrelu\n}", "1:7", "a name is missing", "letter"},
    {"group a b {\nrelu\n}", "1:9", "group NAME", "{"},
    {"residual {\nresidual {\nresidual {\nresidual {\nresidual {\nrelu\n}}}}}", "5:10", "4 braces", "more than"},
    {"group abcdefghijklmno {\ngroup abcdefghijklmno {\ngroup abcdefghijklmno {\nrelu\n}}}", "3:23", "too long",
     "shorter"},
    {"relu relu relu relu relu relu relu relu relu relu relu relu relu relu relu relu relu relu relu relu "
     "relu relu relu relu relu",
     "1:121", "24 words", "one layer"},
    {"conv 8 3 abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", "1:10", "31 characters", "word"},
    {"conv 8 3\xc3\xa4", "1:9", "0xc3", "ASCII"},
    {"relu\nconv 8 \x1b[2J", "2:8", "0x1b", "ASCII"},
    {"\xef\xbb\xbf"
     "relu",
     "1:1", "0xef", "ASCII"},
    /* what is seen when the layers meet the pictures, of 16x16x3 */
    {"dense classes", "1:1", "dense1", "flatten"},
    {"flatten\nconv 8 3x3", "2:1", "conv1", "images"},
    {"conv 8 17x3\nflatten\ndense classes", "1:1", "17x3 window does not fit", "larger image"},
    {"pool 8\npool 3\nflatten\ndense classes", "2:1", "pool2", "does not fit"},
    {"relu\n\nresidual {\n  conv 8 3x3 same\n}\nglobal_avg_pool\ndense classes", "3:1", "must agree", "shortcut"},
    {"residual {\n  flatten\n  global_avg_pool\n}\ndense classes", "3:3", "global average pooling", "images"},
    {"conv 8 3x3", "1:1", "image of 14x14x8", "dense classes"},
    {"flatten\ndense 2\n", "2:1", "2 numbers for 3 classes", "dense classes"},
    {"flatten\ndense 1\n", "2:1", "1 numbers for 3 classes", "dense classes"},
};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

static void hostile_texts_are_told_by_line_and_column(void **state)
{
    (void)state;
    for (int i = 0; i < HOSTILE; i++) {
        char place[64];
        gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .seed = 1});
        read_text(ctx, hostile[i].text);
        const char *told = gr_error_text(ctx);
        snprintf(place, sizeof place, "m.txt:%s: ", hostile[i].place);
        if (gr_error_code(ctx) != GR_BAD_DATA || strncmp(told, place, strlen(place)) != 0 ||
            !strstr(told, hostile[i].thing) || !strstr(told, hostile[i].cure))
            fail_msg("\"%s\": code %d, \"%s\" does not begin with %s, or lacks \"%s\" or \"%s\"", hostile[i].text,
                     gr_error_code(ctx), told, place, hostile[i].thing, hostile[i].cure);
        gr_close(ctx);
    }
}

static void refuse(const char *text, const char *thing)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .seed = 1});
    read_text(ctx, text);
    assert_int_equal(gr_error_code(ctx), GR_BAD_DATA);
    if (!strstr(gr_error_text(ctx), thing))
        fail_msg("\"%s\" does not say \"%s\"", gr_error_text(ctx), thing);
    gr_close(ctx);
}

static void texts_have_limits(void **state)
{
    (void)state;
    enum { BYTES = 1 << 17 };
    char *text = calloc(BYTES + 1, 1);
    for (int i = 0; i < 1001; i++)
        memcpy(text + 5 * i, "relu\n", 5);
    refuse(text, "m.txt:1001:1: more than 1000 layers");
    memset(text, ' ', BYTES);
    refuse(text, "at most 65536");
    memset(text, 0, BYTES + 1); /* the most weights that a text can ask for: more than any machine has */
    for (int i = 0; i < 8; i++)
        strcat(text, "conv 65536 255x255 same\n");
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .seed = 1});
    read_text(ctx, strcat(text, "global_avg_pool\ndense classes"));
    assert_int_equal(gr_error_code(ctx), GR_NO_MEMORY);
    gr_close(ctx);
    free(text);
}

static void refuse_file(const char *path, gr_code code, const char *thing)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .seed = 1});
    assert_null(gr_model_from_file(ctx, path, 3));
    assert_int_equal(gr_error_code(ctx), code);
    if (!strstr(gr_error_text(ctx), thing) || (path && !strstr(gr_error_text(ctx), path)))
        fail_msg("\"%s\" does not say \"%s\"", gr_error_text(ctx), thing);
    gr_close(ctx);
}

static void files_that_are_no_texts(void **state)
{
    (void)state;
    char folder[] = "/tmp/gradus-models-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    refuse_file(NULL, GR_USAGE, "path is NULL");
    refuse_file(folder, GR_BAD_DATA, "no regular file");
    refuse_file("/nonexistent/m.txt", GR_BAD_DATA, "No such file");
    snprintf(path, sizeof path, "%s/fifo", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    refuse_file(path, GR_BAD_DATA, "no regular file"); /* and nobody waits for a writer */
    unlink(path);
    snprintf(path, sizeof path, "%s/m.txt", folder);
    FILE *f = fopen(path, "wb");
    fwrite("relu\0relu", 1, 9, f);
    fclose(f);
    refuse_file(path, GR_BAD_DATA, "zero byte");
    assert_int_equal(truncate(path, 1 << 20), 0);
    refuse_file(path, GR_BAD_DATA, "65536 bytes");
    unlink(path);
    rmdir(folder);
}

/* Another number of outputs than the text was read for: the answer is held to that. */
static void a_head_may_be_replaced(void **state)
{
    (void)state;
    for (int outputs = 2; outputs <= 7; outputs += 5) {
        gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .seed = 1});
        gr_module *net = gr_model_from_text(ctx, "m.txt", "flatten\ndense 4 relu\ndense classes", 3);
        assert_true(gr_module_set_outputs(net, outputs));
        if (!gr_module_build(net, 3, (int64_t[]){4, 4, 3}))
            fail_msg("%s", gr_error_text(ctx));
        assert_int_equal(gr_count(gr_parameter(net, 3)), outputs);
        gr_close(ctx);
    }
}

static void the_caller_is_told_of_mistakes(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .seed = 1});
    assert_null(gr_model_from_text(ctx, "m.txt", "relu", 0));
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    gr_clear_error(ctx);
    assert_null(gr_model_from_text(ctx, "m.txt", NULL, 2));
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    assert_null(gr_model_text(NULL));
    gr_close(ctx);
    assert_null(gr_model_from_text(NULL, "m.txt", "relu", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_the_recipes_networks),
                                       cmocka_unit_test(every_word_is_understood),
                                       cmocka_unit_test(numbers_are_read_exactly),
                                       cmocka_unit_test(hostile_texts_are_told_by_line_and_column),
                                       cmocka_unit_test(texts_have_limits),
                                       cmocka_unit_test(files_that_are_no_texts),
                                       cmocka_unit_test(a_head_may_be_replaced),
                                       cmocka_unit_test(the_caller_is_told_of_mistakes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
