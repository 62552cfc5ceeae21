/*
 * draw_weights.c - writes initial weights that a formula gives: draw_weights cats-vs-dogs|cifar10-cnn FILE.
 *
 * Parameter number i of the model has elements, in the order of the file (PyTorch's layout), of
 * (2 u - 1) / sqrt(fan_in), u uniform in [0, 1) from Philox with counter {element/4, 0, i, 0} and key {SEED, 0}: float
 * arithmetic that make_trajectories.py repeats bit by bit. Biases use the fan_in of their layer's weights.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/philox.h"
#include "core/safetensors.h"

enum { SEED = 20 };

typedef struct {
    const char *model;
    const char *name;
    int ndim;
    int64_t shape[GR_MAX_DIMS];
    int64_t fan_in;
} parameter;

static const parameter parameters[] = {
    {"cats-vs-dogs", "conv1.weight", 4, {32, 3, 3, 3}, 27},
    {"cats-vs-dogs", "conv1.bias", 1, {32}, 27},
    {"cats-vs-dogs", "dense1.weight", 2, {128, 320000}, 320000},
    {"cats-vs-dogs", "dense1.bias", 1, {128}, 320000},
    {"cats-vs-dogs", "dense2.weight", 2, {1, 128}, 128},
    {"cats-vs-dogs", "dense2.bias", 1, {1}, 128},
    {"cifar10-cnn", "conv1.weight", 4, {32, 3, 3, 3}, 27},
    {"cifar10-cnn", "conv1.bias", 1, {32}, 27},
    {"cifar10-cnn", "conv2.weight", 4, {64, 32, 3, 3}, 288},
    {"cifar10-cnn", "conv2.bias", 1, {64}, 288},
    {"cifar10-cnn", "conv3.weight", 4, {64, 64, 3, 3}, 576},
    {"cifar10-cnn", "conv3.bias", 1, {64}, 576},
    {"cifar10-cnn", "dense1.weight", 2, {64, 1024}, 1024},
    {"cifar10-cnn", "dense1.bias", 1, {64}, 1024},
    {"cifar10-cnn", "dense2.weight", 2, {10, 64}, 64},
    {"cifar10-cnn", "dense2.bias", 1, {10}, 64},
};

enum { PARAMETERS = sizeof parameters / sizeof *parameters };

/* Values of the model's parameter number i, for the caller to free. */
static float *draw(const parameter *p, uint32_t i)
{
    int64_t count = 1;
    for (int d = 0; d < p->ndim; d++)
        count *= p->shape[d];
    float *values = calloc((size_t)count, sizeof *values), limit = (float)(1 / sqrt((double)p->fan_in));
    uint32_t bits[4] = {0};
    for (int64_t e = 0; values && e < count; e++) {
        if (e % 4 == 0)
            gr__philox((uint32_t[]){(uint32_t)(e / 4), 0, i, 0}, (uint32_t[]){SEED, 0}, bits);
        values[e] = ((float)(bits[e % 4] >> 8) * 0x1p-23f - 1) * limit;
    }
    return values;
}

static int write_model(gr_context *ctx, const char *model, const char *path)
{
    gr_saved_tensor saved[PARAMETERS] = {0};
    int n = 0;
    for (int i = 0; i < PARAMETERS; i++) {
        const parameter *p = &parameters[i];
        if (strcmp(p->model, model))
            continue;
        snprintf(saved[n].name, sizeof saved[n].name, "%s", p->name);
        saved[n].type = GR_F32;
        saved[n].ndim = p->ndim;
        memcpy(saved[n].shape, p->shape, sizeof p->shape);
        saved[n].data = draw(p, (uint32_t)n);
        n++;
    }
    if (n)
        gr__safetensors_write(ctx, path, n, saved);
    for (int i = 0; i < n; i++)
        free((void *)saved[i].data);
    return n;
}

int main(int argc, char **argv)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    int n = argc == 3 && gr_ok(ctx) ? write_model(ctx, argv[1], argv[2]) : 0;
    if (!n)
        fprintf(stderr, "usage: draw_weights cats-vs-dogs|cifar10-cnn FILE\n");
    if (!gr_ok(ctx))
        fprintf(stderr, "draw_weights: %s\n", gr_error_text(ctx));
    int code = gr_close(ctx);
    return n ? code : 2;
}
