/*
 * bench_cases.c - see bench_cases.h. A new operation gets a line of the table at the end, and a function that calls it
 * where none fits.
 */
#include "bench/bench_cases.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- calls -------------------------------------------------------------------------------------------------------- */

static gr_tensor *conv_same(gr_tensor *const *in)
{
    return gr_conv2d(in[0], in[1], NULL, &(gr_conv2d_args){.window.padding = GR_SAME});
}

static gr_tensor *conv_bias_relu(gr_tensor *const *in)
{
    return gr_conv2d(in[0], in[1], in[2], &(gr_conv2d_args){.relu = true});
}

static gr_tensor *conv_stem(gr_tensor *const *in)
{
    return gr_conv2d(in[0], in[1], NULL, &(gr_conv2d_args){.window = {{2, 2}, GR_EXPLICIT, {3, 3, 3, 3}}});
}

static gr_tensor *conv_same_pool(gr_tensor *const *in)
{
    return gr_conv2d_relu_max_pool(
        in[0], in[1], in[2], &(gr_conv2d_relu_max_pool_args){.conv.window.padding = GR_SAME, .pool.size = {2, 2}});
}

static gr_tensor *conv_pool(gr_tensor *const *in)
{
    return gr_conv2d_relu_max_pool(in[0], in[1], in[2], &(gr_conv2d_relu_max_pool_args){.pool.size = {2, 2}});
}

static gr_tensor *pool_2x2(gr_tensor *const *in)
{
    return gr_max_pool2d(in[0], &(gr_max_pool2d_args){.size = {2, 2}});
}

static gr_tensor *average_2x2(gr_tensor *const *in)
{
    return gr_avg_pool2d(in[0], &(gr_avg_pool2d_args){.size = {2, 2}});
}

static gr_tensor *pool_stem(gr_tensor *const *in)
{
    return gr_max_pool2d(in[0], &(gr_max_pool2d_args){.size = {3, 3}, .window = {{2, 2}, GR_EXPLICIT, {1, 1, 1, 1}}});
}

static gr_tensor *dense(gr_tensor *const *in)
{
    return gr_dense(in[0], in[1], in[2], NULL);
}

static gr_tensor *dense_relu(gr_tensor *const *in)
{
    return gr_dense(in[0], in[1], in[2], &(gr_dense_args){.relu = true});
}

static gr_tensor *norm_relu(gr_tensor *const *in)
{
    return gr_batch_norm(in[0], in[1], in[2], NULL, NULL, &(gr_batch_norm_args){.relu = true}, NULL);
}

static gr_tensor *norm_add_relu(gr_tensor *const *in)
{
    return gr_batch_norm(in[0], in[1], in[2], in[3], NULL, &(gr_batch_norm_args){.relu = true}, NULL);
}

static gr_tensor *norm_track(gr_tensor *const *in)
{
    gr_statistics next = {in[0], in[1]}, running = {in[2], in[3]}, batch = {in[4], in[5]};
    bool done =
        gr_batch_norm_track(&next, &running, &batch, &(gr_batch_norm_track_args){.values = 1024, .first = true});
    return done ? in[0] : NULL;
}

static gr_tensor *norm_commit(gr_tensor *const *in)
{
    return gr_batch_norm_commit(in[0], in[1]) ? in[0] : NULL;
}

static gr_tensor *unscaled(gr_tensor *const *in)
{
    return gr_unscale(in[0], in[1]) ? in[0] : NULL;
}

static gr_tensor *looked_at(gr_tensor *const *in)
{
    return gr_overflow(in[0], in[1]) ? in[0] : NULL;
}

static gr_tensor *scale_moved(gr_tensor *const *in)
{
    return gr_loss_scale(in[0], NULL) ? in[0] : NULL;
}

static gr_tensor *relu(gr_tensor *const *in)
{
    return gr_relu(in[0]);
}

static gr_tensor *sigmoid(gr_tensor *const *in)
{
    return gr_sigmoid(in[0]);
}

static gr_tensor *hyperbolic(gr_tensor *const *in)
{
    return gr_tanh(in[0]);
}

static gr_tensor *tripled(gr_tensor *const *in)
{
    return gr_scale(in[0], 3);
}

static gr_tensor *penalty(gr_tensor *const *in)
{
    return gr_l2_penalty(in[0], 0.01);
}

static gr_tensor *total(gr_tensor *const *in)
{
    return gr_sum(in[0]);
}

static gr_tensor *average_of_all(gr_tensor *const *in)
{
    return gr_mean(in[0]);
}

static gr_tensor *norm(gr_tensor *const *in)
{
    return gr_global_norm(in[0]);
}

static gr_tensor *as_matrix(gr_tensor *const *in)
{
    return gr_reshape(in[0], 2, (int64_t[]){gr_dim(in[0], 0), gr_count(in[0]) / gr_dim(in[0], 0)});
}

static gr_tensor *flatten(gr_tensor *const *in)
{
    return gr_flatten(in[0]);
}

static gr_tensor *to_half_and_back(gr_tensor *const *in)
{
    return gr_cast(gr_cast(in[0], GR_F16), gr_type_of(in[0]));
}

static gr_tensor *dropout(gr_tensor *const *in)
{
    return gr_dropout(in[0], 0.5);
}

static gr_tensor *add_relu(gr_tensor *const *in)
{
    return gr_add(in[0], in[1], &(gr_add_args){.relu = true});
}

static gr_tensor *average(gr_tensor *const *in)
{
    return gr_global_avg_pool(in[0]);
}

static gr_tensor *softmax_loss(gr_tensor *const *in)
{
    return gr_softmax_cross_entropy(in[0], in[1], NULL);
}

static gr_tensor *sigmoid_loss(gr_tensor *const *in)
{
    return gr_sigmoid_bce(in[0], in[1], NULL);
}

static gr_tensor *normalise(gr_tensor *const *in)
{
    return gr_normalise(in[0], &(gr_normalise_args){{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}});
}

static gr_tensor *augment(gr_tensor *const *in)
{
    return gr_augment(in[0], in[1],
                      &(gr_augment_args){.normalise = {{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}}, .filter = GR_BILINEAR});
}

static gr_tensor *accuracy(gr_tensor *const *in)
{
    return gr_accuracy(in[0], in[1], in[2]);
}

static gr_tensor *confusion(gr_tensor *const *in)
{
    return gr_confusion(in[0], in[1], in[2]);
}

static gr_tensor *tally(gr_tensor *const *in)
{
    return gr_tally(in[0], in[1], in[2], NULL) ? in[0] : NULL;
}

static gr_tensor *gather(gr_tensor *const *in)
{
    return gr_gather(in[0], in[1]);
}

static gr_tensor *sgd(gr_tensor *const *in)
{
    return gr_sgd_step(in[0], in[1], NULL) ? in[0] : NULL;
}

static gr_tensor *momentum(gr_tensor *const *in)
{
    gr_momentum_args args = {.momentum = 0.9, .nesterov = true, .weight_decay = 5e-4};
    return gr_momentum_step(in[0], in[1], in[2], &args) ? in[0] : NULL;
}

static gr_tensor *adam(gr_tensor *const *in)
{
    return gr_adam_step(in[0], in[1], in[2], in[3], NULL) ? in[0] : NULL;
}

static gr_tensor *lars(gr_tensor *const *in)
{
    gr_lars_args args = {.momentum = 0.9, .weight_decay = 5e-4};
    return gr_lars_step(in[0], in[1], in[2], &args) ? in[0] : NULL;
}

static gr_tensor *prox(gr_tensor *const *in)
{
    return gr_prox_step(in[0], in[1], in[2], &(gr_prox_args){.gamma = 0.1}) ? in[0] : NULL;
}

static gr_tensor *clip(gr_tensor *const *in)
{
    return gr_clip_norm(in[0], in[1], 1e-3) ? in[0] : NULL;
}

static gr_tensor *climb(gr_tensor *const *in)
{
    return gr_sam_climb(in[0], in[1], in[2], in[3], 0.05) ? in[0] : NULL;
}

static gr_tensor *climb_down(gr_tensor *const *in)
{
    return gr_sam_return(in[0], in[1]) ? in[0] : NULL;
}

/* x, dy, w, y, then m and v */
static gr_tensor *dense_sgd(gr_tensor *const *in)
{
    return gr_dense_sgd(&(gr_dense_update){in[0], in[1], in[2], in[3], NULL, .want_dx = true});
}

static gr_tensor *dense_adam(gr_tensor *const *in)
{
    return gr_dense_adam(&(gr_dense_update){in[0], in[1], in[2], in[3], NULL, .want_dx = true}, in[4], in[5], NULL);
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

const bench_case bench_cases[] = {
    {"conv2d", "ResNet-18 for CIFAR-10, stage 1", "x[N,32,32,64]* w[64,3,3,64]*", conv_same, READS_INPUTS},
    {"conv2d", "ResNet-18 for CIFAR-10, stage 2", "x[N,16,16,128]* w[128,3,3,128]*", conv_same, READS_INPUTS},
    {"conv2d", "ResNet-18 for CIFAR-10, stage 4", "x[N,4,4,512]* w[512,3,3,512]*", conv_same, READS_INPUTS},
    {"conv2d", "ResNet-18, stem, stride 2", "x[N,224,224,3] w[64,7,7,3]*", conv_stem, READS_INPUTS},
    {"conv2d", "cifar10-cnn, third layer, with bias and ReLU", "x[N,6,6,64]* w[64,3,3,64]* b[64]*", conv_bias_relu,
     READS_BOTH},
    {"avg_pool2d", "2x2", "x[N,30,30,32]*", average_2x2, READS_NOTHING},
    {"max_pool2d", "2x2", "x[N,30,30,32]*", pool_2x2, READS_NOTHING},
    {"max_pool2d", "ResNet-18, stem, 3x3, stride 2", "x[N,112,112,64]*", pool_stem, READS_NOTHING},
    {"conv2d_relu_max_pool", "cats-vs-dogs, first layer", "x[N,200,200,3] w[32,3,3,3]* b[32]*", conv_same_pool,
     READS_INPUTS},
    {"conv2d_relu_max_pool", "cifar10-cnn, first layer", "x[N,32,32,3] w[32,3,3,3]* b[32]*", conv_pool, READS_INPUTS},
    {"conv2d_relu_max_pool", "cifar10-cnn, second layer", "x[N,15,15,32]* w[64,3,3,32]* b[64]*", conv_pool,
     READS_INPUTS},
    {"dense", "cats-vs-dogs, hidden layer, with ReLU", "x[N,320000]* w[320000,128]* b[128]*", dense_relu, READS_BOTH},
    {"dense", "cifar10-cnn, hidden layer, with ReLU", "x[N,1024]* w[1024,64]* b[64]*", dense_relu, READS_BOTH},
    {"dense", "ResNet-18, answer", "x[N,512]* w[512,1000]* b[1000]*", dense, READS_INPUTS},
    {"batch_norm", "ResNet-18 for CIFAR-10, stage 1, with ReLU", "x[N,32,32,64]* gamma[64]*+ beta[64]*", norm_relu,
     READS_BOTH},
    {"batch_norm", "the same, with the block's input added",
     "x[N,32,32,64]* gamma[64]*+ beta[64]* residual[N,32,32,64]*", norm_add_relu, READS_BOTH},
    {"relu", "ResNet-18 for CIFAR-10, stage 1", "x[N,32,32,64]*", relu, READS_RESULT},
    {"sigmoid", "the same size", "x[N,32,32,64]*", sigmoid, READS_RESULT},
    {"tanh", "the same size", "x[N,32,32,64]*", hyperbolic, READS_RESULT},
    {"scale", "the same size", "x[N,32,32,64]*", tripled, READS_NOTHING},
    {"reshape", "the same size", "x[N,32,32,64]*", as_matrix, READS_NOTHING},
    {"l2_penalty", "a layer of 512 x 512", "w[512,512]*", penalty, READS_INPUTS},
    {"sum", "parameters of ResNet-18 for CIFAR-10", "x[11173962]", total, READS_NOTHING},
    {"mean", "the same", "x[11173962]", average_of_all, READS_NOTHING},
    {"global_norm", "the same", "x[11173962]", norm, READS_NOTHING},
    {"cast", "the same, to f16 and back", "x[11173962]", to_half_and_back, READS_NOTHING},
    {"flatten", "cats-vs-dogs", "x[N,100,100,32]*", flatten, READS_NOTHING},
    {"dropout", "half of a hidden layer", "x[N,4096]*", dropout, READS_NOTHING},
    {"add", "ResNet-18 for CIFAR-10, stage 1, with ReLU", "a[N,32,32,64]* b[N,32,32,64]*", add_relu, READS_RESULT},
    {"global_avg_pool", "ResNet-18 for CIFAR-10", "x[N,4,4,512]*", average, READS_NOTHING},
    {"softmax_cross_entropy", "cifar10-cnn", "z[N,10]* labels[N]10", softmax_loss, READS_INPUTS},
    {"softmax_cross_entropy", "ResNet-18, 1000 classes", "z[N,1000]* labels[N]1000", softmax_loss, READS_INPUTS},
    {"sigmoid_bce", "cats-vs-dogs", "z[N,1]* labels[N]2", sigmoid_loss, READS_INPUTS},
    {"normalise", "cats-vs-dogs", "x[N,200,200,3]u", normalise, READS_NOTHING},
    {"augment", "CIFAR-10, mirrored and moved", "x[N,32,32,3]u map[N,16]32m", augment, READS_NOTHING},
    {"augment", "cats-vs-dogs, turned, bilinear", "x[N,200,200,3]u map[N,16]200mt", augment, READS_NOTHING},
    {"gather", "cifar10-cnn", "x[50000,32,32,3]u? index[N]50000", gather, READS_NOTHING},
    {"accuracy", "cifar10-cnn", "z[N,10] labels[N]10 weight[N]~+", accuracy, READS_NOTHING},
    {"confusion", "cifar10-cnn", "z[N,10] labels[N]10 weight[N]~+", confusion, READS_NOTHING},
    {"tally", "loss and accuracy", "total[2,2]& loss[1] counts[1]", tally, READS_NOTHING},
    {"sgd_step", "parameters of ResNet-18 for CIFAR-10", "p[11173962]& g[11173962]", sgd, READS_NOTHING},
    {"momentum_step", "the same, Nesterov's, with weight decay", "p[11173962]& g[11173962] v[11173962]&", momentum,
     READS_NOTHING},
    {"adam_step", "parameters of ResNet-18 for CIFAR-10", "p[11173962]& g[11173962] m[11173962]& v[11173962]&+", adam,
     READS_NOTHING},
    {"lars_step", "a layer of ResNet-18", "p[2359296]& g[2359296] v[2359296]&", lars, READS_NOTHING},
    {"prox_step", "parameters of ResNet-18 for CIFAR-10", "p[11173962]& g[11173962] anchor[11173962]&", prox,
     READS_NOTHING},
    {"clip_norm", "the same", "g[11173962]& norm[1]+", clip, READS_NOTHING},
    {"sam_climb", "the same", "p[11173962]& g[11173962] norm[1]+ saved[11173962]=", climb, READS_NOTHING},
    {"sam_return", "the same", "p[11173962]= saved[11173962]", climb_down, READS_NOTHING},
    {"dense_sgd", "cats-vs-dogs, hidden layer: backward and update", "x[N,320000] dy[N,128]~ w[320000,128]& y[N,128]",
     dense_sgd, READS_NOTHING},
    {"dense_adam", "the same with Adam",
     "x[N,320000] dy[N,128]~ w[320000,128]& y[N,128] m[320000,128]& v[320000,128]&+", dense_adam, READS_NOTHING},
    {"batch_norm_track", "512 channels",
     "next_mean[512]= next_var[512]= mean[512] var[512]+ batch_mean[512] batch_var[512]+", norm_track, READS_NOTHING},
    {"batch_norm_commit", "statistics of ResNet-18", "running[9600]= next[9600]", norm_commit, READS_NOTHING},
    {"unscale", "parameters of ResNet-18 for CIFAR-10", "g[11173962]& scaler[5]&+", unscaled, READS_NOTHING},
    {"overflow", "cats-vs-dogs, what goes into the hidden layer", "x[N,320000] scaler[5]&+", looked_at, READS_NOTHING},
    {"loss_scale", "the numbers of one context", "scaler[5]&+", scale_moved, READS_NOTHING},
    {0},
};

/* --- reading it --------------------------------------------------------------------------------------------------- */

/* "N,32,32,64]" at text; returns what follows. */
static const char *read_shape(const char *text, int64_t batch, bench_input *input)
{
    for (input->ndim = 0; *text != ']'; text += *text == ',') {
        bool free = *text == 'N';
        char *end = (char *)text + 1;
        input->shape[input->ndim++] = free ? batch : strtoll(text, &end, 10);
        input->has_batch |= free;
        text = end;
    }
    return text + 1;
}

static void read_flags(const char *text, size_t length, bench_input *input)
{
    input->gradient = memchr(text, '*', length);
    input->changed = memchr(text, '&', length);
    input->written = memchr(text, '=', length);
    input->outside = memchr(text, '~', length);
    input->positive = memchr(text, '+', length);
    input->bytes = memchr(text, 'u', length);
    input->picked = memchr(text, '?', length);
    input->maps = memchr(text, 'm', length);
    input->turned = memchr(text, 't', length);
    input->classes = isdigit((unsigned char)*text) ? atoi(text) : 0;
}

int bench_inputs(const bench_case *c, int64_t batch, bench_input inputs[BENCH_INPUTS])
{
    int n = 0;
    for (const char *word = c->inputs; *word && n < BENCH_INPUTS; n++) {
        bench_input *input = &inputs[n];
        int name = (int)strcspn(word, "[");
        *input = (bench_input){0};
        snprintf(input->name, sizeof input->name, "%.*s", name, word);
        const char *flags = read_shape(word + name + 1, batch, input);
        size_t length = strcspn(flags, " ");
        read_flags(flags, length, input);
        word = flags + length + strspn(flags + length, " ");
    }
    return n;
}

const char *bench_shapes(const bench_case *c, char *text, size_t size)
{
    size_t n = 0;
    bool mark = false; /* behind a shape */
    for (const char *p = c->inputs; *p && n + 1 < size; p++) {
        mark = *p != ' ' && mark;
        if (!mark)
            text[n++] = *p;
        mark |= *p == ']';
    }
    text[n] = '\0';
    return text;
}
