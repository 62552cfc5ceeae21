/*
 * xor.c - the smallest network that learns something no straight line can tell apart: xor [UPDATES].
 *
 * Two inputs, eight hidden units, one output. Everything of a training program is here: data, network, optimizer, the
 * loop of forward, loss, backward and step.
 */
#include <gradus.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const float inputs[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
static const int32_t answers[4] = {0, 1, 1, 0};

int main(int argc, char **argv)
{
    const int updates = argc > 1 ? atoi(argv[1]) : 500;
    gr_context *ctx = gr_open(&(gr_options){.seed = 1});
    gr_tensor *x = gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){4, 2}), *y = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){4});
    gr_upload(x, inputs);
    gr_upload(y, answers);

    gr_module *net = gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = 8}), gr_tanh_layer(ctx),
                                   gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
    gr_optimizer *adam = gr_adam(ctx, net, &(gr_adam_options){.lr = 0.05});

    for (int update = 1; update <= updates && gr_ok(ctx); update++) {
        gr_tensor *loss = gr_sigmoid_bce(gr_forward(net, x), y, NULL); /* a number for each of four rows -> one loss */
        gr_minimize(adam, loss);                                       /* backward, then the step */
        if (update % 100 == 0)
            printf("update %d: loss %.4f\n", update, gr_item(loss));
        gr_step_end(ctx); /* what the operations returned is gone */
    }

    float z[4];
    gr_record(ctx, false); /* no gradients from here on */
    gr_download(gr_forward(net, x), z);
    for (int i = 0; i < 4 && gr_ok(ctx); i++)
        printf("%g xor %g: %.3f\n", (double)inputs[i][0], (double)inputs[i][1], 1 / (1 + exp((double)-z[i])));
    if (!gr_ok(ctx))
        fprintf(stderr, "%s\n", gr_error_text(ctx));
    return gr_close(ctx);
}
