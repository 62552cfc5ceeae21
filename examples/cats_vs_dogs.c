/*
 * cats_vs_dogs.c - the published network on the photographs of PetImages: cats_vs_dogs [FOLDER [EPOCHS]].
 *
 * FOLDER holds Cat/0.jpg ... and Dog/0.jpg ...; without one, a built-in set of drawn images stands in.
 */
#include <gradus.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .seed = 1});
    gr_dataset *pets =
        argc > 1 && *argv[1]
            ? gr_image_folder(ctx, argv[1], &(gr_image_options){.height = 200, .width = 200, .per_class = 1000})
            : gr_procedural(ctx, 2000, 200, 200, 1);
    gr_split part = gr_split_per_class(pets, 600, 200, 200);

    gr_module *net = gr_sequential(
        ctx,
        gr_conv2d_layer(ctx,
                        &(gr_conv2d_options){.filters = 32, .kernel = 3, .padding = GR_SAME, .init = GR_HE_UNIFORM}),
        gr_relu_layer(ctx), gr_max_pool2d_layer(ctx, 2), gr_flatten_layer(ctx),
        gr_dense_layer(ctx, &(gr_dense_options){.units = 128, .init = GR_HE_UNIFORM}), gr_relu_layer(ctx),
        gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
    gr_optimizer *sgd = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.01});
    gr_loader *loader = gr_loader_open(part.train, &(gr_loader_options){.batch = 32, .last = GR_DROP});

    int epochs = argc > 2 ? atoi(argv[2]) : 5;
    for (int epoch = 0; epoch < epochs && gr_ok(ctx); epoch++) {
        gr_batch batch;
        while (gr_loader_next(loader, &batch)) {
            gr_tensor *loss = gr_sigmoid_bce(gr_forward(net, batch.x), batch.y, batch.weight);
            gr_minimize(sgd, loss); /* or gr_backward(loss) and gr_optimizer_step(sgd) */
            gr_step_end(ctx);       /* activations and scratch are gone; nothing was allocated */
        }
        printf("epoch %d: test accuracy %.3f\n", epoch + 1, gr_evaluate(net, part.test).accuracy);
    }
    if (!gr_ok(ctx))
        fprintf(stderr, "%s\n", gr_error_text(ctx));
    return gr_close(ctx); /* 0, or the error's exit code */
}
