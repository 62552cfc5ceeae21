/* front.c - rows as a program would call them, and what the fronts hand to the kernels. */
#include "tests/table/front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/half.h"
#include "core/precision.h"
#include "tests/table/draw.h"

static gr_tensor *call_conv2d(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_conv2d(in[0], in[1], in[2], &(gr_conv2d_args){.window = r->window, .relu = r->relu});
}

static gr_tensor *call_max_pool2d(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_max_pool2d(in[0], &(gr_max_pool2d_args){.size = {r->size[0], r->size[1]}, .window = r->window});
}

static gr_tensor *call_conv2d_relu_max_pool(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    gr_conv2d_relu_max_pool_args args = {.conv.window = r->window,
                                         .pool = {.size = {r->size[0], r->size[1]}, .window = r->pool_window}};
    return gr_conv2d_relu_max_pool(in[0], in[1], in[2], &args);
}

static gr_tensor *call_dense(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_dense(in[0], in[1], in[2], &(gr_dense_args){.relu = r->relu});
}

static gr_tensor *call_reshape(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_reshape(in[0], r->to_dims, r->to);
}

static gr_tensor *call_scale(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_scale(in[0], r->factor);
}

static gr_tensor *call_l2_penalty(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_l2_penalty(in[0], r->factor);
}

static gr_tensor *call_sum(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_sum(in[0]);
}

static gr_tensor *call_mean(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_mean(in[0]);
}

static gr_tensor *call_global_norm(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_global_norm(in[0]);
}

static gr_tensor *call_avg_pool2d(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_avg_pool2d(in[0], &(gr_avg_pool2d_args){.size = {r->size[0], r->size[1]}, .window = r->window});
}

static gr_tensor *call_add(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_add(in[0], in[1], &(gr_add_args){.relu = r->relu});
}

static gr_tensor *call_global_avg_pool(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_global_avg_pool(in[0]);
}

static gr_tensor *call_batch_norm(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    gr_batch_norm_args args = {.epsilon = r->batch_norm.epsilon, .relu = r->relu};
    gr_statistics running = {in[4], in[5]};
    return gr_batch_norm(in[0], in[1], in[2], in[3], in[4] ? &running : NULL, &args, NULL);
}

static gr_tensor *call_batch_norm_track(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    gr_statistics next = {in[0], in[1]}, running = {in[2], in[3]}, batch = {in[4], in[5]};
    return gr_batch_norm_track(&next, &running, &batch, &r->track) ? in[0] : NULL;
}

static gr_tensor *call_batch_norm_commit(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_batch_norm_commit(in[0], in[1]) ? in[0] : NULL;
}

static gr_tensor *call_unscale(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_unscale(in[0], in[1]) ? in[0] : NULL;
}

static gr_tensor *call_overflow(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_overflow(in[0], in[1]) ? in[0] : NULL;
}

static gr_tensor *call_loss_scale(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_loss_scale(in[0], NULL) ? in[0] : NULL;
}

static gr_tensor *call_relu(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_relu(in[0]);
}

static gr_tensor *call_sigmoid(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_sigmoid(in[0]);
}

static gr_tensor *call_tanh(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_tanh(in[0]);
}

static gr_type cast_type(bool f16, bool bf16, gr_type real)
{
    return f16 ? GR_F16 : bf16 ? GR_BF16 : real;
}

static gr_tensor *call_cast(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_cast(in[0], cast_type(r->to_f16, r->to_bf16, gr_real(in[0]->ctx)));
}

static gr_tensor *call_flatten(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_flatten(in[0]);
}

static gr_tensor *call_dropout(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    if (r->second)
        gr_dropout(in[0], r->rate);
    return gr_dropout(in[0], r->rate);
}

static gr_tensor *call_softmax_cross_entropy(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_smoothed_cross_entropy(in[0], in[1], in[2], r->smoothing);
}

static gr_tensor *call_sigmoid_bce(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_sigmoid_bce(in[0], in[1], in[2]);
}

static gr_tensor *call_normalise(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_normalise(in[0], &r->normalise);
}

static gr_tensor *call_augment(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_augment(in[0], in[1],
                      &(gr_augment_args){.normalise = r->normalise,
                                         .size = {r->size[0], r->size[1]},
                                         .filter = (gr_resampling)r->filter,
                                         .fill = (gr_fill)r->fill});
}

static gr_tensor *call_accuracy(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_accuracy(in[0], in[1], in[2]);
}

static gr_tensor *call_confusion(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_confusion(in[0], in[1], in[2]);
}

static gr_tensor *call_tally(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_tally(in[0], in[1], in[2], &(gr_tally_args){.finite = r->finite}) ? in[0] : NULL;
}

static gr_tensor *call_gather(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_gather(in[0], in[1]);
}

static gr_tensor *call_sgd_step(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_sgd_step(in[0], in[1], &(gr_sgd_args){r->momentum.weight_decay}) ? in[0] : NULL;
}

static gr_tensor *call_momentum_step(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_momentum_step(in[0], in[1], in[2], &r->momentum) ? in[0] : NULL;
}

static gr_tensor *call_adam_step(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_adam_step(in[0], in[1], in[2], in[3], &r->adam) ? in[0] : NULL;
}

static gr_tensor *call_lars_step(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    gr_lars_args args = {.momentum = r->momentum.momentum,
                         .weight_decay = r->momentum.weight_decay,
                         .trust = r->factor,
                         .epsilon = r->adam.epsilon};
    (void)db;
    return gr_lars_step(in[0], in[1], in[2], &args) ? in[0] : NULL;
}

static gr_tensor *call_prox_step(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_prox_step(in[0], in[1], in[2], &(gr_prox_args){.gamma = r->factor, .first = r->track.first}) ? in[0]
                                                                                                           : NULL;
}

static gr_tensor *call_clip_norm(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_clip_norm(in[0], in[1], r->factor) ? in[0] : NULL;
}

static gr_tensor *call_sam_climb(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    return gr_sam_climb(in[0], in[1], in[2], in[3], r->factor) ? in[0] : NULL;
}

static gr_tensor *call_sam_return(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_sam_return(in[0], in[1]) ? in[0] : NULL;
}

static gr_tensor *call_dense_sgd(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    return gr_dense_sgd(&(gr_dense_update){in[0], in[1], in[2], in[3], db, !r->no_dx});
}

static gr_tensor *call_dense_adam(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    gr_dense_update update = {in[0], in[1], in[2], in[3], db, !r->no_dx};
    return gr_dense_adam(&update, in[4], in[5], &r->adam);
}

gr_tensor *front_call(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    static gr_tensor *(*const calls[GR_OP_COUNT])(const row *, gr_tensor *const *, gr_tensor *) = {
#define GR_OP(name, kind, inputs, outputs, formula) [GR_OP_##name] = call_##name,
#include "kernels/ops/ops.def"
#undef GR_OP
    };
    return calls[r->op->id](r, in, db);
}

bool front_fill(gr_tensor *t, const double *values)
{
    void *host = malloc((size_t)(t ? t->count : 0) * 8 + 1);
    for (int64_t i = 0; t && i < t->count; i++) {
        if (t->type == GR_F64)
            ((double *)host)[i] = values[i];
        else if (t->type == GR_F32)
            ((float *)host)[i] = (float)values[i];
        else if (t->type == GR_F16)
            ((uint16_t *)host)[i] = gr__f16_of(values[i]);
        else if (t->type == GR_BF16)
            ((uint16_t *)host)[i] = gr__bf16_of(values[i]);
        else if (t->type == GR_I32)
            ((int32_t *)host)[i] = (int32_t)values[i];
        else
            ((uint8_t *)host)[i] = (uint8_t)values[i];
    }
    bool good = gr_upload(t, host);
    free(host);
    return good;
}

double *front_values(const gr_tensor *t)
{
    void *host = malloc((size_t)t->count * 8 + 1);
    double *values = calloc((size_t)t->count + 1, sizeof *values);
    gr_download(t, host);
    for (int64_t i = 0; i < t->count; i++) {
        if (t->type == GR_F64)
            values[i] = ((double *)host)[i];
        else if (t->type == GR_F32)
            values[i] = (double)((float *)host)[i];
        else if (t->type == GR_F16)
            values[i] = gr__f16_value(((uint16_t *)host)[i]);
        else if (t->type == GR_BF16)
            values[i] = gr__bf16_value(((uint16_t *)host)[i]);
        else if (t->type == GR_I32)
            values[i] = ((int32_t *)host)[i];
        else
            values[i] = ((uint8_t *)host)[i];
    }
    free(host);
    return values;
}

bool front_inputs(gr_context *ctx, const row *r, gr_tensor **in)
{
    gr_slot slot;
    for (int i = 0; gr__slot(r->op->inputs, i, &slot); i++) {
        in[i] = NULL;
        if (r->ndim[i] < 0)
            continue;
        gr_type real = slot.type == 'a' ? cast_type(r->from_f16, r->from_bf16, gr_real(ctx)) : gr_real(ctx);
        gr_type type = slot.type == 'u' ? GR_U8 : slot.type == 'i' ? GR_I32 : real;
        in[i] =
            slot.grad ? gr_variable(ctx, r->ndim[i], r->shape[i]) : gr_tensor_new(ctx, type, r->ndim[i], r->shape[i]);
        if (!in[i])
            return false;
        double *values = calloc((size_t)in[i]->count + 1, sizeof *values);
        draw_input(r, i, in[i]->count, values);
        bool good = front_fill(in[i], values);
        free(values);
        if (!good)
            return false;
    }
    return true;
}

gr_tensor *front_db(gr_context *ctx, const row *r)
{
    bool update = r->op->id == GR_OP_dense_sgd || r->op->id == GR_OP_dense_adam;
    return update && !r->no_db ? gr_tensor_new(ctx, gr_real(ctx), 1, &r->shape[2][1]) : NULL;
}

bool front_state(gr_context *ctx, const row *r)
{
    ctx->state = r->state;
    return gr__state_write(ctx);
}

/* The one call that the spying device saw; options point into options_seen. */
static gr_call seen;
static _Alignas(16) unsigned char options_seen[GR_MAX_ARGS];

static void spy(const gr_call *call)
{
    seen = *call;
    memcpy(options_seen, call->options, sizeof options_seen);
}

static gr_context *open_spy(void)
{
    static gr_kernel spies[GR_OP_COUNT];
    for (int i = 0; i < GR_OP_COUNT; i++)
        spies[i] = (gr_kernel){.forward = spy, .backward = spy};
    const char *why;
    gr_device *device = gr__ref_device(GR_F64, &why);
    if (device)
        device->kernels = spies;
    return gr__context_open(NULL, device, &gr__mixed_precision);
}

static void note(gr_tensor *copy, gr_tensor **slot, gr_tensor *t)
{
    *slot = NULL;
    if (!t)
        return;
    *copy = (gr_tensor){.type = t->type, .ndim = t->ndim, .count = t->count};
    memcpy(copy->shape, t->shape, sizeof copy->shape);
    *slot = copy;
}

bool front_capture(const row *r, row_call *captured, const char **why)
{
    static char message[1024];
    gr_context *ctx = open_spy();
    gr_tensor *in[GR_MAX_IN] = {0};
    seen = (gr_call){0};
    gr_tensor *result = front_inputs(ctx, r, in) ? front_call(r, in, front_db(ctx, r)) : NULL;
    if (!seen.n_in && result) { /* no kernel ran: the result shares the input's storage */
        seen = (gr_call){.n_in = 1, .n_out = 1, .in = {in[0]}, .out = {result}};
        memset(options_seen, 0, sizeof options_seen);
    }
    *captured = (row_call){.call = {.n_in = seen.n_in, .n_out = seen.n_out}};
    for (int i = 0; i < GR_MAX_IN; i++)
        note(&captured->in[i], &captured->call.in[i], seen.in[i]);
    for (int i = 0; i < GR_MAX_OUT; i++)
        note(&captured->out[i], &captured->call.out[i], seen.out[i]);
    memcpy(captured->args, options_seen, sizeof options_seen);
    captured->call.options = captured->args;
    snprintf(message, sizeof message, "%s", gr_error_text(ctx));
    *why = message;
    return gr_close(ctx) == 0 && result;
}
