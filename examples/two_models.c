/*
 * two_models.c - two networks trained against each other (Goodfellow et al. 2014): two_models [UPDATES].
 *
 * The generator makes numbers out of noise; the critic tells them from numbers drawn from a normal distribution of mean
 * 4 and deviation 1.25. Each has an optimizer of its own, with its own count of updates, and clears its own gradients.
 */
#include <gradus.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 64, NOISE = 4, CHECK = 16 };

static uint64_t dice = 1;

/* Uniform in (0, 1): a 64-bit linear congruential generator (Knuth's MMIX), its upper bits. */
static double uniform(void)
{
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return ((double)(dice >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * acos(-1.0) * uniform());
}

static void fill(gr_tensor *t, double mean, double deviation)
{
    float values[BATCH * NOISE];
    for (int64_t i = 0; i < gr_count(t); i++)
        values[i] = (float)(mean + deviation * normal());
    gr_upload(t, values);
}

static gr_module *network(gr_context *ctx, int hidden)
{
    return gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = hidden}), gr_tanh_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = hidden}), gr_tanh_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
}

/* Prints mean and deviation of what the generator makes of many batches of noise. */
static void look(gr_context *ctx, gr_module *generator, gr_tensor *noise, int update)
{
    double sum = 0, squares = 0;
    gr_record(ctx, false); /* no tape: nothing is to be learned */
    for (int k = 0; k < CHECK; k++) {
        float made[BATCH] = {0};
        fill(noise, 0, 1);
        gr_download(gr_forward(generator, noise), made);
        gr_step_end(ctx);
        for (int i = 0; i < BATCH; i++) {
            sum += (double)made[i];
            squares += (double)made[i] * (double)made[i];
        }
    }
    gr_record(ctx, true);
    const double mean = sum / (BATCH * CHECK);
    printf("update %5d: mean %6.3f deviation %.3f\n", update, mean, sqrt(squares / (BATCH * CHECK) - mean * mean));
}

int main(int argc, char **argv)
{
    gr_context *ctx = gr_open(&(gr_options){.seed = 1});
    gr_module *generator = network(ctx, 16), *critic = network(ctx, 32);
    gr_optimizer *make = gr_adam(ctx, generator, &(gr_adam_options){.lr = 0.001, .adam = {.beta1 = 0.5}});
    gr_optimizer *judge = gr_adam(ctx, critic, &(gr_adam_options){.lr = 0.002, .adam = {.beta1 = 0.5}});
    gr_tensor *noise = gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){BATCH, NOISE});
    gr_tensor *real = gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){BATCH, 1});
    gr_tensor *zeros = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){BATCH}); /* labels: 0 made, 1 real */
    gr_tensor *ones = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){BATCH});
    int32_t one[BATCH];
    for (int i = 0; i < BATCH; i++)
        one[i] = 1;
    gr_upload(ones, one);

    const int updates = argc > 1 ? atoi(argv[1]) : 3000;
    for (int update = 1; update <= updates && gr_ok(ctx); update++) {
        fill(real, 4, 1.25);
        fill(noise, 0, 1);
        gr_record(ctx, false); /* the generator only delivers */
        gr_tensor *made = gr_forward(generator, noise);
        gr_record(ctx, true);
        gr_backward(gr_add(gr_sigmoid_bce(gr_forward(critic, real), ones, NULL),
                           gr_sigmoid_bce(gr_forward(critic, made), zeros, NULL), NULL));
        gr_optimizer_step(judge);
        gr_step_end(ctx);

        fill(noise, 0, 1);
        gr_backward(gr_sigmoid_bce(gr_forward(critic, gr_forward(generator, noise)), ones, NULL));
        gr_optimizer_step(make);
        gr_clear_gradients(ctx); /* the critic's: it has no part in this update */
        gr_step_end(ctx);
        if (update % 500 == 0 || update == updates)
            look(ctx, generator, noise, update);
    }
    if (!gr_ok(ctx))
        fprintf(stderr, "%s\n", gr_error_text(ctx));
    return gr_close(ctx);
}
