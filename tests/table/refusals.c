/*
 * refusals.c - what a front must refuse: with GR_USAGE, and a message that names the operation and says what is wrong.
 */
#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "kernels/ops/notation.h"
#include "tests/table/checks.h"

/* Calls, in the notation of rows.def, and what the message must contain. */
static const struct {
    const char *row, *words;
} refused[] = {
    {"conv2d x[2,90] w[4,3,3,3]", "[N,H,W,C]"},
    {"conv2d x[2,5,6,3] w[4,3,3,2]", "2 channels, the images 3"},
    {"conv2d x[2,5,6,3] w[4,3,3,3] b[5]", "each of the 4 filters"},
    {"conv2d x[2,5,6,3] w[4,6,3,3]", "6 x 3 does not fit into an image of 5 x 6"},
    {"conv2d x[2,5,6,3] w[4,3,3,3] stride[-1,1]", "stride -1 x 1"},
    {"conv2d x[2,5,6,3] w[4,3,3,3] pad[0,0,-1,0]", "padding -1 is negative"},
    {"max_pool2d x[5,6] size[2,2]", "[N,H,W,C]"},
    {"max_pool2d x[2,5,6,3]", "0 x 0"},
    {"max_pool2d x[1,20,20,1] size[16,16]", "16 x 16; it must have 1 to 255"},
    {"max_pool2d x[2,5,6,3] size[6,2]", "6 x 2 does not fit"},
    {"max_pool2d x[2,5,6,3] size[2,2] pad[2,0,0,0]", "must be smaller than the window"},
    {"conv2d_relu_max_pool x[2,5,6,3] w[4,3,3,2] pool[2,2]", "2 channels, the images 3"},
    {"conv2d_relu_max_pool x[2,5,6,3] w[4,3,3,3] pool[4,2]", "4 x 2 does not fit into an image of 3 x 4"},
    {"dense x[2,5,6,3] w[90,4]", "gr_flatten"},
    {"dense x[2,7] w[8,4]", "7 features, the weights want 8"},
    {"dense x[2,7] w[7,4] b[7]", "each of the 4 outputs"},
    {"reshape x[3,4] to[11]", "x has 12 elements, the new shape 11"},
    {"scale x[3] factor[inf]", "factor inf"},
    {"l2_penalty w[3] factor[-0.5]", "factor -0.5"},
    {"avg_pool2d x[2,5,6,3] size[0,2]", "0 x 2"},
    {"avg_pool2d x[3,4] size[2,2]", "[N,H,W,C]"},
    {"avg_pool2d x[2,5,6,3] size[2,2] pad[2,0,0,0]", "must be smaller than the window"},
    {"add a[3,4] b[4,3]", "b must have the shape of a"},
    {"mul a[3,4] b[4,3]", "b must have the shape of a"},
    {"global_avg_pool x[3,4]", "[N,H,W,C]"},
    {"batch_norm x[1,4] gamma[4] beta[4]", "one value per channel"},
    {"batch_norm x[3,4] gamma[3] beta[4]", "gamma must have one element for each of the 4"},
    {"batch_norm x[3,4] gamma[4] beta[4] residual[4,3]", "residual must have the shape of x"},
    {"batch_norm x[3,4] gamma[4] beta[4] mean[4]", "mean and var together"},
    {"batch_norm x[3,4] gamma[4] beta[4] var_epsilon[-1]", "epsilon -1"},
    {"batch_norm x[3,4] gamma[4] beta[4] tracked_mean[4]", "tracked statistics are mean and var together"},
    {"batch_norm x[3,4] gamma[4] beta[4] tracked_mean[4] tracked_var[5]", "tracked_var must have one element for each"},
    {"batch_norm x[3,4] gamma[4] beta[4] tracked_mean[4] tracked_var[4] values[1]", "1 values per channel"},
    {"batch_norm x[3,4] gamma[4] beta[4] tracked_mean[4] tracked_var[4] momentum[1.5]", "momentum 1.5"},
    {"batch_norm_commit running[4] next[5]", "next has 5 elements, wanted are 4"},
    {"overflow x[4] scaler[4]", "scaler has 4 elements, wanted are 5"},
    {"unscale g[4] scaler[4]", "scaler has 4 elements, wanted are 5"},
    {"flatten x", "no batch dimension"},
    {"dropout x[3,4] rate[1]", "rate 1;"},
    {"dropout x[3,4] rate[nan]", "rate nan"},
    {"softmax_cross_entropy z[3,4] labels[3] smoothing[1]", "smoothing 1;"},
    {"softmax_cross_entropy z[3] labels[3]", "[N,classes]"},
    {"softmax_cross_entropy z[3,4] labels[4]", "one label for each of the 3 rows"},
    {"softmax_cross_entropy z[3,4] labels[3] weight[2]", "one weight for each of the 3 rows"},
    {"sigmoid_bce z[3,2] labels[3]", "for 2 classes use gr_softmax_cross_entropy"},
    {"sigmoid_bce z[3,1] labels[2]", "one label for each of the 3 rows"},
    {"gather x[2,1,1,1] index[1,1]", "index must be a vector"},
    {"gather x[2,2] index[2]", "x must be pictures"},
    {"accuracy z[3,4] labels[2]", "one label for each of the 3 rows"},
    {"confusion z[3,4] labels[2]", "one label for each of the 3 rows"},
    {"tally total[2,2] loss[2] counts[1]", "loss must have one element"},
    {"tally total[3,2] loss[1] counts[3]", "total must be [4,2]"},
    {"normalise x[1,2,2,5]", "at most 4 channels"},
    {"normalise x[1,2,2,3] std[1,-1,1,1]", "std -1"},
    {"augment x[2,2,2,5] map[2,16]", "at most 4 channels"},
    {"augment x[2,2,2,3] map[1,16]", "map must be [N,16], a row for each of the 2 images"},
    {"augment x[2,2,2,3] map[2,6]", "map must be [N,16]"},
    {"augment x[1,16385,2,1] map[1,16]", "resize them first"},
    {"augment x[1,2,2,1] map[1,16] size[-1,2]", "a result of -1 x 2"},
    {"augment x[1,2,2,1] map[1,16] filter[4]", "filter number 4"},
    {"augment x[1,2,2,1] map[1,16] std[-1]", "std -1"},
    {"sgd_step p[8] g[7]", "g has 7 elements, wanted are 8"},
    {"sgd_step p[8] g[8] decay[-1]", "weight decay -1"},
    {"momentum_step p[8] g[8] v[8] momentum[1]", "momentum 1;"},
    {"momentum_step p[8] g[8] v[8]", "gr_sgd_step"},
    {"momentum_step p[8] g[8] v[9] momentum[0.9]", "v has 9 elements, wanted are 8"},
    {"momentum_step p[8] g[8] v[8] momentum[0.9] decay[nan]", "weight decay nan"},
    {"lars_step p[8] g[8] v[8] momentum[-0.5]", "momentum -0.5"},
    {"lars_step p[8] g[8] v[8] factor[-1]", "trust -1"},
    {"lars_step p[8] g[7] v[8]", "g has 7 elements, wanted are 8"},
    {"prox_step p[8] g[8] anchor[8] factor[-1]", "gamma -1"},
    {"prox_step p[8] g[8] anchor[9]", "anchor has 9 elements, wanted are 8"},
    {"clip_norm g[8] norm[1] factor[0]", "limit of 0"},
    {"clip_norm g[8] norm[2] factor[1]", "norm has 2 elements; it is one number"},
    {"sam_climb p[8] g[8] norm[1] saved[8] factor[nan]", "rho nan"},
    {"sam_climb p[8] g[8] norm[2] saved[8] factor[0.05]", "norm has 2 elements"},
    {"sam_return p[8] saved[7]", "saved has 7 elements, wanted are 8"},
    {"ema_step average[8] p[8] factor[1]", "decay 1;"},
    {"ema_step average[8] p[7] factor[0.9]", "p has 7 elements, wanted are 8"},
    {"nesterov_step v[8] g[8] factor[1]", "momentum 1;"},
    {"nesterov_step v[8] g[7] factor[0.5]", "g has 7 elements, wanted are 8"},
    {"unit_norm x[8] norm[1] factor[0]", "length of 0"},
    {"unit_norm x[8] norm[2] factor[1]", "norm has 2 elements; it is one number"},
    {"lookahead_step slow[8] p[8] factor[1.5]", "decay 1.5;"},
    {"lookahead_step slow[8] p[7] factor[0.5]", "p has 7 elements, wanted are 8"},
    {"adam_step p[8] g[8] m[8] v[8] decay[-2]", "weight decay -2"},
    {"adam_step p[8] g[8] m[8] v[9]", "v has 9 elements, wanted are 8"},
    {"adam_step p[8] g[8] m[8] v[8] beta[1,0.999]", "beta1 1"},
    {"adam_step p[8] g[8] m[8] v[8] epsilon[nan]", "epsilon nan"},
    {"dense_sgd x[2,7] dy[3,4] w[7,4]", "dy [N,4] with the same N"},
    {"dense_adam x[2,7] dy[2,4] w[7,4] m[7,4] v[7,3]", "moments must have as many elements as w"},
};

static bool named(const char *text, const char *op)
{
    return !strncmp(text, op, strlen(op)) && strchr(" :", text[strlen(op)]);
}

/* Whether ctx has refused a call; closes it. */
static bool refuses(gr_context *ctx, const char *device, const char *op, const char *call, const char *words)
{
    const char *text = gr_error_text(ctx);
    const bool good = gr_error_code(ctx) == GR_USAGE && named(text, op) && strstr(text, words);
    if (!good)
        printf("FAIL %s: refusal of %s with \"%s\": code %d, \"%s\"\n", device, call, words, (int)gr_error_code(ctx),
               text);
    gr_close(ctx);
    return good;
}

static int check_row(const char *device, size_t i)
{
    row r;
    const char *why;
    if (!row_parse(refused[i].row, false, &r, &why)) {
        printf("FAIL refusals.c: %s: %s\n", refused[i].row, why);
        return 1;
    }
    gr_context *ctx = gr_open(&(gr_options){.device = device});
    gr_tensor *in[GR_MAX_IN] = {0};
    if (front_inputs(ctx, &r, in))
        front_call(&r, in, NULL);
    return !refuses(ctx, device, r.op->name, r.text, refused[i].words);
}

static gr_type right_type(const gr_context *ctx, const gr_slot *slot)
{
    return slot->type == GR_SLOT_U8 ? GR_U8 : slot->type == GR_SLOT_I32 ? GR_I32 : gr_real(ctx);
}

/* Every operation with an input of a type that it does not take. */
static int check_type(const char *device, const gr_op *op, int wrong)
{
    static const _Alignas(16) unsigned char args[GR_MAX_ARGS];
    gr_context *ctx = gr_open(&(gr_options){.device = device});
    gr_tensor *in[GR_MAX_IN] = {0};
    char words[32];
    snprintf(words, sizeof words, "%s has type %s", op->in[wrong].name,
             op->in[wrong].type == GR_SLOT_I32 ? "u8" : "i32");
    for (int i = 0; i < op->n_in; i++) {
        const gr_type wrong_type = op->in[i].type == GR_SLOT_I32 ? GR_U8 : GR_I32;
        in[i] = gr_tensor_new(ctx, i == wrong ? wrong_type : right_type(ctx, &op->in[i]), 1, (int64_t[]){1});
    }
    gr__call_op(op->id, ctx, in, NULL, true, args);
    return !refuses(ctx, device, op->name, op->name, words);
}

/* What no row can say. */
static gr_tensor *matrix(gr_context *ctx, int64_t n, int64_t m)
{
    return gr_tensor_new(ctx, gr_real(ctx), 2, (int64_t[]){n, m});
}

static void conv2d_padding_kind(gr_context *ctx)
{
    gr_tensor *x = gr_tensor_new(ctx, gr_real(ctx), 4, (int64_t[]){2, 5, 6, 3}),
              *w = gr_tensor_new(ctx, gr_real(ctx), 4, (int64_t[]){4, 3, 3, 3});
    gr_conv2d(x, w, NULL, &(gr_conv2d_args){.window.padding = (gr_padding)3});
}

static void loss_scale_floor(gr_context *ctx)
{
    gr_tensor *scaler = gr_tensor_new(ctx, gr_real(ctx), 1, (int64_t[]){GR_SCALER_VALUES});
    gr_loss_scale(scaler, &(gr_loss_scale_args){.floor = 8, .ceiling = 4});
}

static void cast_integers(gr_context *ctx)
{
    gr_cast(matrix(ctx, 3, 4), GR_I32);
}

static void dense_sgd_db(gr_context *ctx)
{
    gr_tensor *db = gr_tensor_new(ctx, gr_real(ctx), 1, (int64_t[]){7});
    gr_dense_sgd(&(gr_dense_update){.x = matrix(ctx, 2, 7), .dy = matrix(ctx, 2, 4), .w = matrix(ctx, 7, 4), .db = db});
}

/* Tensors that say they are larger than any machine's memory: nothing of them is read. */
static gr_tensor *huge(gr_context *ctx, int ndim, const int64_t *shape)
{
    gr_tensor *t = gr_tensor_new(ctx, gr_real(ctx), ndim, (int64_t[]){1, 1, 1, 1});
    for (int i = 0; t && i < ndim; i++)
        t->shape[i] = shape[i];
    return t;
}

enum { FEW = 3 };
static const int64_t MANY = INT64_C(1) << 31;

static void dense_features(gr_context *ctx)
{
    gr_dense(huge(ctx, 2, (int64_t[]){FEW, MANY}), huge(ctx, 2, (int64_t[]){MANY, FEW}), NULL, NULL);
}

static void dense_outputs(gr_context *ctx)
{
    gr_dense(huge(ctx, 2, (int64_t[]){FEW, FEW}), huge(ctx, 2, (int64_t[]){FEW, MANY}), NULL, NULL);
}

static void dense_sgd_features(gr_context *ctx)
{
    gr_dense_sgd(&(gr_dense_update){.x = huge(ctx, 2, (int64_t[]){FEW, MANY}),
                                    .dy = huge(ctx, 2, (int64_t[]){FEW, FEW}),
                                    .w = huge(ctx, 2, (int64_t[]){MANY, FEW})});
}

static void conv2d_of(gr_context *ctx, int64_t n, int64_t h, int64_t w, int64_t c, int64_t k, int64_t s)
{
    gr_conv2d(huge(ctx, 4, (int64_t[]){n, h, w, c}), huge(ctx, 4, (int64_t[]){k, 1, s, c}), NULL, NULL);
}
static void conv2d_images(gr_context *ctx)
{
    conv2d_of(ctx, MANY, FEW, FEW, FEW, FEW, 1);
}
static void conv2d_rows(gr_context *ctx)
{
    conv2d_of(ctx, FEW, MANY, FEW, FEW, FEW, 1);
}
static void conv2d_columns(gr_context *ctx)
{
    conv2d_of(ctx, FEW, FEW, MANY, FEW, FEW, 1);
}
static void conv2d_taps(gr_context *ctx)
{
    conv2d_of(ctx, FEW, FEW, FEW, MANY / 2, FEW, 2);
}
static void conv2d_filters(gr_context *ctx)
{
    conv2d_of(ctx, FEW, FEW, FEW, FEW, MANY, 1);
}

static const struct {
    void (*call)(gr_context *ctx);
    const char *op, *words;
} others[] = {
    {conv2d_padding_kind, "conv2d", "padding kind 3"},
    {loss_scale_floor, "loss_scale", "floor 8, ceiling 4"},
    {cast_integers, "cast", "to type i32; there are"},
    {dense_sgd_db, "dense_sgd", "db must have one element for each of the 4"},
    {dense_features, "dense", "2147483648 features, of which a product may have 2147482624"},
    {dense_outputs, "dense", "2147483648 outputs"},
    {dense_sgd_features, "dense_sgd", "2147483648 features"},
    {conv2d_images, "conv2d", "2147483648 images"},
    {conv2d_rows, "conv2d", "2147483648 rows of pixels"},
    {conv2d_columns, "conv2d", "2147483648 columns of pixels"},
    {conv2d_taps, "conv2d", "2147483648 taps of a filter"},
    {conv2d_filters, "conv2d", "2147483648 filters"},
};

static int check_other(const char *device, size_t i)
{
    gr_context *ctx = gr_open(&(gr_options){.device = device});
    others[i].call(ctx);
    return !refuses(ctx, device, others[i].op, others[i].op, others[i].words);
}

static int check(const char *device)
{
    int failures = 0;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        failures += check_row(device, i);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        failures += check_other(device, i);
    for (int op = 0; op < GR_OP_COUNT; op++)
        for (int i = 0; i < gr__ops[op].n_in; i++)
            failures += check_type(device, &gr__ops[op], i);
    return failures;
}

int check_refusals(void)
{
    return check("ref") + check("cpu");
}
