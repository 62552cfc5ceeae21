/*
 * mnist_mlp.c - one hidden layer on handwritten digits: mnist_mlp [FOLDER [EPOCHS]].
 *
 * FOLDER holds MNIST's four files, or Fashion-MNIST's. Without one it trains on a built-in set: two classes of drawn
 * pictures, which is enough to see it work.
 */
#include <gradus.h>
#include <stdio.h>
#include <stdlib.h>

static gr_split read_data(gr_context *ctx, const char *folder)
{
    if (folder && *folder)
        return gr_idx(ctx, folder);
    return gr_split_per_class(gr_procedural_grey(ctx, 1200, 28, 28, 1), 400, 0, 200);
}

/* gr_fit calls this after every update and every epoch, and goes on while it returns true. */
static bool report(void *user, const gr_progress *p)
{
    (void)user;
    if (p->epoch_end)
        printf("epoch %lld: train loss %.4f accuracy %.3f\n", (long long)p->epoch, p->loss, p->accuracy);
    return true;
}

int main(int argc, char **argv)
{
    gr_context *ctx = gr_open(&(gr_options){.seed = 1});
    gr_split digits = read_data(ctx, argc > 1 ? argv[1] : NULL);

    gr_module *net = gr_sequential(ctx, gr_flatten_layer(ctx), /* 28 x 28 x 1 -> 784 */
                                   gr_dense_layer(ctx, &(gr_dense_options){.units = 128}), gr_relu_layer(ctx),
                                   gr_dense_layer(ctx, &(gr_dense_options){.units = 10}), NULL);
    gr_optimizer *adam = gr_adam(ctx, net, &(gr_adam_options){.lr = 0.001});
    gr_fit_result result = gr_fit(
        net, adam, digits, &(gr_fit_options){.batch = 32, .epochs = argc > 2 ? atoll(argv[2]) : 5, .report = report});

    if (gr_ok(ctx))
        printf("test accuracy %.3f after %lld updates\n", result.test.accuracy, (long long)result.updates);
    else
        fprintf(stderr, "%s\n", gr_error_text(ctx));
    return gr_close(ctx);
}
