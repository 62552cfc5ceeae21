/*
 * draw_weights.c - the first weights of a recipe's network into a file: draw_weights cats-vs-dogs|cifar10-cnn SEED
 * FILE. make_golden.py draws the same numbers by itself, so a mistake in the order of weights on disk shows as well.
 */
#include <gradus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc != 4)
        return GR_USAGE;
    gr_context *ctx = gr_open(&(gr_options){.seed = strtoull(argv[2], NULL, 10)});
    bool cats = !strcmp(argv[1], "cats-vs-dogs");
    gr_module *net = cats ? gr_cats_vs_dogs_net(ctx) : gr_cifar10_cnn(ctx);
    int64_t side = cats ? 200 : 32;
    gr_module_build(net, 3, (int64_t[]){side, side, 3});
    gr_save_weights(net, argv[3]);
    if (!gr_ok(ctx))
        fprintf(stderr, "%s\n", gr_error_text(ctx));
    return gr_close(ctx);
}
