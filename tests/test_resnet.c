/*
 * test_resnet.c - both forms of ResNet-18 against torchvision's, whose answers in double stand in resnet/golden.json:
 * ref to 1e-10, cpu to 1e-4. Five updates by SGD, then evaluation with the running statistics.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/philox.h"
#include "core/safetensors.h"
#include "gradus.h"
#include "nn/module.h"

enum { CLASSES = 10, UPDATES = 5 };

/* --- drawing, as resnet/make_golden.py draws ---------------------------------------------------------------------- */

static uint64_t fnv1a(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static double draw(uint64_t key, int64_t i)
{
    static uint64_t last_key;
    static int64_t last_block = -1; /* four numbers come at a time, and are mostly asked for one after the other */
    static uint32_t bits[4];
    if (key != last_key || i / 4 != last_block) {
        uint32_t counter[4] = {(uint32_t)(i / 4)};
        gr__philox(counter, (uint32_t[]){(uint32_t)key, (uint32_t)(key >> 32)}, bits);
        last_key = key;
        last_block = i / 4;
    }
    return (double)(bits[i % 4] >> 8) * 0x1p-23 - 1;
}

static bool ends(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && !strcmp(name + n - m, end);
}

/* Element i, in disk order, of a parameter. */
static float first_value(const char *name, int ndim, const int64_t *shape, int64_t i)
{
    double u = draw(fnv1a(name), i);
    int64_t fan_in = 1;
    for (int d = 1; d < ndim; d++)
        fan_in *= shape[d];
    bool scale = (strstr(name, "bn") && ends(name, "weight")) || ends(name, "downsample.1.weight");
    return (float)(ndim > 1 ? u * sqrt(6.0 / (double)fan_in) : scale ? 1 + 0.5 * u : 0.1 * u);
}

/* Gives the model its first parameters by way of a file, so that names and order on disk are tested as well. */
static void load_first_values(gr_context *ctx, gr_module *net)
{
    char path[] = "/tmp/gradus-resnet-XXXXXX";
    close(mkstemp(path));
    gr_safetensors file;
    assert_true(gr_save_weights(net, path));
    assert_true(gr__safetensors_read(ctx, path, &file));
    for (int t = 0; t < file.n; t++) {
        gr_saved_tensor *p = &file.tensors[t];
        int64_t count = 1;
        for (int d = 0; d < p->ndim; d++)
            count *= p->shape[d];
        float *values =
            strstr(p->name, "running") ? NULL : (float *)(void *)p->data; /* into the file's bytes, which are ours */
        for (int64_t i = 0; values && i < count; i++) {
            float v = first_value(p->name, p->ndim, p->shape, i);
            memcpy(values + i, &v, sizeof v);
        }
    }
    assert_true(gr__safetensors_write(ctx, path, file.n, file.tensors));
    assert_true(gr_load_weights(net, path));
    gr__safetensors_free(&file);
    unlink(path);
}

static void fill(gr_tensor *t, const char *what)
{
    const uint64_t key = fnv1a(what);
    void *host = calloc((size_t)gr_count(t), 8);
    for (int64_t i = 0; i < gr_count(t); i++) {
        if (gr_type_of(t) == GR_F64)
            ((double *)host)[i] = draw(key, i);
        else
            ((float *)host)[i] = (float)draw(key, i);
    }
    assert_true(gr_upload(t, host));
    free(host);
}

static double *values_of(const gr_tensor *t)
{
    double *values = calloc((size_t)gr_count(t), sizeof *values);
    float *narrow = calloc((size_t)gr_count(t), sizeof *narrow);
    assert_true(gr_download(t, gr_type_of(t) == GR_F64 ? (void *)values : narrow));
    for (int64_t i = 0; gr_type_of(t) == GR_F32 && i < gr_count(t); i++)
        values[i] = (double)narrow[i];
    free(narrow);
    return values;
}

/* --- comparison --------------------------------------------------------------------------------------------------- */

static void near(const char *what, double got, double want, double size, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * size))
        fail_msg("%s: %.17g, torchvision gives %.17g (relative to %.3g: %.2g, allowed %.2g)", what, got, want, size,
                 fabs(got - want) / size, tolerance);
}

static double number(const json_t *array, size_t i)
{
    return json_number_value(json_array_get(array, i));
}

static double norm(const double *v, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

/* Norm of each parameter's gradient, and its product with a drawn probe, which is in disk order. */
static void compare_gradients(gr_module *net, const json_t *golden, double tolerance)
{
    assert_int_equal(gr_parameter_count(net), (int)json_object_size(golden));
    for (int p = 0; p < gr_parameter_count(net); p++) {
        const char *name = gr_parameter_name(net, p);
        const json_t *want = json_object_get(golden, name);
        assert_non_null(want);
        char probe[128];
        snprintf(probe, sizeof probe, "probe %s", name);
        const uint64_t key = fnv1a(probe);
        const gr_tensor *g = gr_grad(gr_parameter(net, p));
        double *values = values_of(g), length = norm(values, gr_count(g)), product = 0;
        for (int64_t i = 0; i < gr_count(g); i++)
            product += draw(key, i) * values[gr__memory_index(&net->parameters->plans[p], GR__AS_TORCH, i)];
        near(name, length, number(want, 0), number(want, 0), tolerance);
        near(name, product, number(want, 1), number(want, 0), tolerance);
        free(values);
    }
}

static void compare_statistics(gr_module *net, const json_t *golden, double tolerance)
{
    const gr_parameters *list = net->parameters->statistics;
    assert_int_equal(list->n, (int)json_object_size(golden));
    for (int i = 0; i < list->n; i++) {
        const json_t *want = json_object_get(golden, list->plans[i].name);
        assert_non_null(want);
        const gr_tensor *t = *list->plans[i].place;
        double *values = values_of(t);
        near(list->plans[i].name, norm(values, gr_count(t)), number(want, 0), number(want, 0), tolerance);
        free(values);
    }
}

static void compare_logits(const gr_tensor *z, const json_t *golden, double tolerance)
{
    double *values = values_of(z), largest = 0;
    assert_int_equal(gr_count(z), (int)json_array_size(golden));
    for (int64_t i = 0; i < gr_count(z); i++)
        largest = fmax(largest, fabs(number(golden, (size_t)i)));
    for (int64_t i = 0; i < gr_count(z); i++)
        near("a logit", values[i], number(golden, (size_t)i), largest, tolerance);
    free(values);
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

/* Five updates and an evaluation of one form on one device. */
static void follow(gr_context *ctx, gr_module *net, const json_t *golden, double lr, double tolerance)
{
    const int64_t side = json_integer_value(json_object_get(golden, "side"));
    const int64_t batch = json_integer_value(json_object_get(golden, "batch"));
    gr_tensor *x = gr_tensor_new(ctx, gr_real(ctx), 4, (int64_t[]){batch, side, side, 3});
    gr_tensor *labels = gr_tensor_new(ctx, GR_I32, 1, &batch);
    int32_t classes[16] = {0};
    for (int32_t i = 0; i < batch; i++)
        classes[i] = i * 7 % CLASSES;
    assert_true(gr_upload(labels, classes));
    assert_true(gr_module_build(net, 3, (int64_t[]){side, side, 3}));
    load_first_values(ctx, net);
    gr_optimizer *sgd = gr_sgd(ctx, net, &(gr_sgd_options){.lr = lr});
    for (int i = 0; i < UPDATES; i++) {
        char what[32];
        snprintf(what, sizeof what, "frames %d", i);
        fill(x, what);
        gr_tensor *loss = gr_softmax_cross_entropy(gr_forward(net, x), labels, NULL);
        assert_true(gr_backward(loss));
        if (i == 0)
            compare_gradients(net, json_object_get(golden, "gradients"), tolerance);
        assert_true(gr_optimizer_step(sgd));
        const double want = number(json_object_get(golden, "losses"), (size_t)i);
        near("a loss", gr_item(loss), want, want, tolerance);
        gr_step_end(ctx);
    }
    compare_statistics(net, json_object_get(golden, "statistics"), tolerance);
    gr_record(ctx, false);
    fill(x, "test frames");
    compare_logits(gr_forward(net, x), json_object_get(golden, "logits"), tolerance);
}

static void run(const char *form, const char *device, bool no_fusion, double tolerance)
{
    json_t *golden = json_load_file(GRADUS_TESTS "/resnet/golden.json", 0, NULL);
    gr_context *ctx = gr_open(&(gr_options){.device = device, .no_fusion = no_fusion});
    gr_module *net = strcmp(form, "resnet18") ? gr_resnet18_cifar(ctx, CLASSES) : gr_resnet18(ctx, CLASSES);
    const json_t *forms = json_object_get(golden, "forms");
    follow(ctx, net, json_object_get(forms, form), json_number_value(json_object_get(golden, "lr")), tolerance);
    assert_string_equal(gr_error_text(ctx), "");
    gr_close(ctx);
    json_decref(golden);
}

static void imagenet_form_on_ref(void **state)
{
    (void)state;
    run("resnet18", "ref", false, 1e-10);
}

static void cifar_form_on_ref(void **state)
{
    (void)state;
    run("resnet18_cifar", "ref", false, 1e-10);
}

static void both_forms_on_cpu(void **state)
{
    (void)state;
    run("resnet18", "cpu", false, 1e-4);
    run("resnet18_cifar", "cpu", false, 1e-4);
    run("resnet18_cifar", "cpu", true, 1e-4);
}

/* The last normalisation of torchvision's form sees one value per channel for a single 32x32 image: refused by name. */
static void one_value_per_channel_is_refused(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_module *net = gr_resnet18(ctx, CLASSES);
    assert_null(gr_forward(net, gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){1, 32, 32, 3})));
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    assert_non_null(strstr(gr_error_text(ctx), "layer4.0.bn1"));
    assert_non_null(strstr(gr_error_text(ctx), "one value per channel"));
    gr_clear_error(ctx);
    gr_record(ctx, false);
    assert_non_null(gr_forward(net, gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){1, 32, 32, 3})));
    gr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imagenet_form_on_ref),
        cmocka_unit_test(cifar_form_on_ref),
        cmocka_unit_test(both_forms_on_cpu),
        cmocka_unit_test(one_value_per_channel_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
