/* front.c - rows as a program would call them, and what the fronts hand to the kernels. */
#include "tests/table/front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/half.h"
#include "core/precision.h"
#include "kernels/ops/notation.h"
#include "tests/table/draw.h"

gr_tensor *front_call(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    if (r->second) /* of a micro-batch's calls */
        gr__call_op(r->op->id, in[0]->ctx, in, db, !r->no_dx, r->args);
    return gr__call_op(r->op->id, in[0]->ctx, in, db, !r->no_dx, r->args);
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
    for (int i = 0; i < r->op->n_in; i++) {
        const gr_slot *slot = &r->op->in[i];
        in[i] = NULL;
        if (r->ndim[i] < 0)
            continue;
        const bool half = slot->type == GR_SLOT_FLOATING && (r->from_f16 || r->from_bf16);
        const gr_type real = !half ? gr_real(ctx) : r->from_f16 ? GR_F16 : GR_BF16;
        const gr_type type = slot->type == GR_SLOT_U8 ? GR_U8 : slot->type == GR_SLOT_I32 ? GR_I32 : real;
        in[i] = slot->flags & GR_SLOT_GRAD ? gr_variable(ctx, r->ndim[i], r->shape[i])
                                           : gr_tensor_new(ctx, type, r->ndim[i], r->shape[i]);
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
