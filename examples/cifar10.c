/*
 * cifar10.c - the TensorFlow tutorial's network on CIFAR-10: cifar10 PATH [UPDATES].
 *
 * PATH is the folder cifar-10-batches-bin, the folder that holds it, or cifar-10-binary.tar.gz as it was downloaded.
 */
#include <gradus.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints an epoch's result; gr_fit goes on while it returns true. */
static bool report(void *user, const gr_progress *p)
{
    (void)user;
    if (p->epoch_end)
        printf("epoch %lld: train loss %.3f accuracy %.3f, %.0f images/s\n", (long long)p->epoch, p->loss, p->accuracy,
               (double)p->samples / p->seconds);
    return true;
}

int main(int argc, char **argv)
{
    gr_context *ctx = gr_open(&(gr_options){.seed = 1});
    gr_split cifar = gr_cifar10(ctx, argc > 1 ? argv[1] : "datasets");

    gr_module *net = gr_sequential(
        ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 32, .kernel = 3}), gr_relu_layer(ctx),
        gr_max_pool2d_layer(ctx, 2), gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 64, .kernel = 3}),
        gr_relu_layer(ctx), gr_max_pool2d_layer(ctx, 2),
        gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 64, .kernel = 3}), gr_relu_layer(ctx),
        gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 64}), gr_relu_layer(ctx),
        gr_dense_layer(ctx, &(gr_dense_options){.units = 10}), NULL);

    gr_fit_options fit = {.batch = 32, .epochs = 10, .report = report};
    if (argc > 2)
        fit = (gr_fit_options){.batch = 32, .updates = atoll(argv[2]), .report = report};
    gr_fit_result result = gr_fit(net, gr_adam(ctx, net, NULL), cifar, &fit);

    if (gr_ok(ctx))
        printf("test accuracy %.3f after %lld updates\n", result.test.accuracy, (long long)result.updates);
    else
        fprintf(stderr, "%s\n", gr_error_text(ctx));
    return gr_close(ctx);
}
