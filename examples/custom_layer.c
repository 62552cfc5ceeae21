/*
 * custom_layer.c - a layer that the library does not have, and a loss of one's own: custom_layer [EPOCHS].
 *
 * The layer is a "highway" (Srivastava, Greff and Schmidhuber 2015): y = x + tanh(x W + b), W square, so that it can
 * stand anywhere between rows of features. It is trained like the library's own, its weights are saved and loaded by
 * the same functions, and it computes on every device.
 */
#include <gradus.h>
#include <stdio.h>
#include <stdlib.h>

/* Told the shape of one sample: checks it, and declares what is to be learned. The output has the input's shape. */
static bool build(gr_module *m, gr_sample_shape *shape)
{
    if (shape->ndim != 1)
        return gr_module_fail(m, "a highway wants rows of features; put a flatten layer before it");
    const int64_t n = shape->dim[0];
    return gr_module_declare(m, &(gr_variable_options){.name = "weight", .ndim = 2, .shape = {n, n}}) &&
           gr_module_declare(m, &(gr_variable_options){.name = "bias", .ndim = 1, .shape = {n}, .init = GR_ZEROS});
}

/* y[N, n] of x[N, n]. The tape differentiates it. */
static gr_tensor *forward(gr_module *m, gr_tensor *x)
{
    gr_tensor *inner = gr_tanh(gr_dense(x, gr_module_variable(m, 0), gr_module_variable(m, 1), NULL));
    return gr_add(x, inner, NULL);
}

static gr_module *network(gr_context *ctx)
{
    const gr_module_options highway = {.kind = "highway", .build = build, .forward = forward};
    return gr_sequential(ctx, gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 16}),
                         gr_module_new(ctx, &highway), gr_module_new(ctx, &highway),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
}

/* Half the cross-entropy, half a pull of the answers towards 0: any operations will do that end in a number. */
static gr_tensor *loss(void *user, gr_tensor *z, const gr_batch *batch)
{
    const double *pull = user;
    return gr_add(gr_scale(gr_loss(z, batch), 0.5), gr_l2_penalty(z, *pull / (double)batch->n), NULL);
}

int main(int argc, char **argv)
{
    gr_context *ctx = gr_open(&(gr_options){.seed = 1});
    gr_split part = gr_split_per_class(gr_table_classes(ctx, 1200, 4, 7), 400, 0, 200);
    gr_module *net = network(ctx), *again = network(ctx);

    double pull = 0.001;
    gr_fit_options fit = {.batch = 32, .epochs = argc > 1 ? atoi(argv[1]) : 10, .loss = loss, .user = &pull};
    gr_fit_result result = gr_fit(net, gr_adam(ctx, net, &(gr_adam_options){.lr = 0.01}), part, &fit);
    for (int i = 0; i < gr_parameter_count(net); i++)
        printf("%s%s", i ? ", " : "trained ", gr_parameter_name(net, i));

    gr_module_build(again, 3, (int64_t[]){1, 4, 1});
    gr_save_weights(net, "custom_layer.safetensors");
    gr_load_weights(again, "custom_layer.safetensors");
    remove("custom_layer.safetensors");
    printf("\ntest accuracy %.3f, and %.3f of another network with the weights that were saved\n", result.test.accuracy,
           gr_evaluate(again, part.test).accuracy);
    if (!gr_ok(ctx))
        fprintf(stderr, "%s\n", gr_error_text(ctx));
    return gr_close(ctx);
}
