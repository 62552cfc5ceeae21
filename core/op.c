/* op.c - how a front turns tensors and options into a call: slots, checks, outputs, messages, the kernel's run. */
#include "core/op.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/context.h"
#include "core/float_mode.h"
#include "core/precision.h"
#include "core/trace.h"

/* "conv2d (conv1) x[2,8,8,3] w[4,3,3,3]" into text: the call as a message names it. */
static void call_text(const gr_build *b, char *text, size_t size)
{
    const char *module = b->ctx->module;
    size_t at = (size_t)snprintf(text, size, *module ? "%s (%s)" : "%s", b->op->name, module);
    for (int i = 0; i < b->op->n_in && at < size; i++) {
        if (!b->call.in[i])
            continue;
        char shape[96];
        gr__shape_text(b->call.in[i], shape, sizeof shape);
        at += (size_t)snprintf(text + at, size - at, " %s%s", b->op->in[i].name, shape);
    }
}

gr_tensor *gr__op_fail(gr_build *b, const char *format, ...)
{
    char call[384], message[512];
    call_text(b, call, sizeof call);
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    gr__fail(b->ctx, GR_USAGE, "%s: %s", call, message);
    return NULL;
}

/* One input against its slot. */
static bool fits(gr_build *b, const gr_slot *slot, const gr_tensor *t)
{
    const gr_type wanted = b->ctx->mixed->input_type(b->ctx, slot, t);
    if (t->ctx != b->ctx)
        gr__op_fail(b, "%s belongs to another context", slot->name);
    else if (t->type != wanted)
        gr__op_fail(b, "%s has type %s, wanted is %s", slot->name, gr_type_name(t->type), gr_type_name(wanted));
    else if (!t->data && !b->ctx->planning)
        gr__op_fail(b, "the storage of %s was given back: gr_backward releases activations, gr_step_end everything",
                    slot->name);
    return gr_ok(b->ctx);
}

bool gr__op_begin(gr_build *b, const gr_op *op, gr_tensor *const *in, const void *args)
{
    *b = (gr_build){.op = op, .call = {.n_in = op->n_in, .n_out = op->n_out}};
    for (int i = 0; i < op->n_in; i++) {
        if (in[i] ? !gr__alive(in[i], op->name) : !(op->in[i].flags & GR_SLOT_OPTIONAL))
            return false;
        b->call.in[i] = in[i];
        if (in[i] && !b->ctx)
            b->ctx = in[i]->ctx;
    }
    if (!gr_ok(b->ctx))
        return false;
    if (args)
        memcpy(b->args, args, op->args_size);
    b->call.options = b->args;
    for (int i = 0; i < op->n_in; i++)
        if (in[i] && !fits(b, &op->in[i], in[i]))
            return false;
        else if (in[i] && (op->in[i].flags & GR_SLOT_CHANGED))
            b->ctx->mixed->change_input(b, i);
    return b->ctx->mixed->cast_inputs(b);
}

void *gr__op_args(gr_build *b)
{
    return b->args;
}

uint32_t gr__op_draw(gr_build *b)
{
    return (uint32_t)b->ctx->n_draws++;
}

bool gr__op_recording(const gr_build *b)
{
    return b->ctx->recording;
}

/* Whether this call will be differentiated. */
static bool on_tape(const gr_build *b)
{
    if (b->op->kind != GR_DIFF || !b->ctx->recording)
        return false;
    for (int i = 0; i < b->call.n_in; i++)
        if (b->op->in[i].flags & GR_SLOT_GRAD && b->call.in[i] && b->call.in[i]->wants_grad)
            return true;
    return false;
}

bool gr__op_output_as(gr_build *b, int slot, gr_type type, int ndim, const int64_t *shape)
{
    if (!gr__shape_check(b->ctx, type, ndim, shape))
        return false;
    b->call.out[slot] = gr__tensor_step(b->ctx, type, ndim, shape);
    return b->call.out[slot] != NULL;
}

bool gr__op_output(gr_build *b, int slot_index, int ndim, const int64_t *shape)
{
    const gr_slot *slot = &b->op->out[slot_index];
    if ((slot->flags & GR_SLOT_TAPED) && !on_tape(b))
        return true;
    return gr__op_output_as(b, slot_index, b->ctx->mixed->output_type(b, slot), ndim, shape);
}

/* Whether the device has failed, which is recorded: at this operation or, where the device runs behind, before it. */
static bool faulty(gr_context *ctx, const gr_op *op)
{
    const char *why = ctx->device->fault ? ctx->device->fault(ctx->device) : NULL;
    if (why)
        gr__fail(ctx, GR_DEVICE_FAULT,
                 *ctx->module ? "device %s: %s, in or before %s (%s)" : "device %s: %s, in or before %s",
                 ctx->device->name, why, op->name, ctx->module);
    return why;
}

/* On a CPU device in the mode that its threads are in. */
static void run_pass(const gr_kernel *kernel, const gr_call *call, gr_pass pass)
{
    const uint64_t mode = call->exec->pool ? gr__float_mode_begin() : 0;
    (pass == GR_FORWARD ? kernel->forward : kernel->backward)(call);
    if (call->exec->pool)
        gr__float_mode_end(mode);
}

static int pieces_of(gr_precision p)
{
    return p == GR_PRECISION_BF16X3 ? 2 : p == GR_PRECISION_BF16X6 ? 3 : 0;
}

bool gr__run_plain(gr_context *ctx, const gr_op *op, gr_call *call, gr_pass pass)
{
    const gr_kernel *kernel = &ctx->device->kernels[op->id];
    gr_exec exec = {.pool = ctx->device->pool,
                    .queue = ctx->device->queue,
                    .arrivals = ctx->device->arrivals,
                    .state = ctx->device_state,
                    .tf32 = ctx->options.precision == GR_PRECISION_TF32,
                    .pieces = pieces_of(ctx->options.precision),
                    .multiprocessors = ctx->device->multiprocessors,
                    .wgmma = ctx->device->wgmma};
    call->exec = &exec;
    size_t bytes = kernel->scratch ? kernel->scratch(call, pass) : 0;
    gr_block scratch = {0};
    if (bytes && !gr__step_alloc(ctx, bytes, &scratch, &exec.scratch))
        return false;
    if (!ctx->planning) {
        if (ctx->device->enter)
            ctx->device->enter(ctx->device);
        run_pass(kernel, call, pass);
    }
    if (bytes)
        gr__step_free(ctx, &scratch);
    call->exec = NULL;
    return true;
}

static bool run(gr_context *ctx, const gr_op *op, gr_call *call, gr_pass pass)
{
    return ctx->mixed->widens(ctx, op, call, pass) ? ctx->mixed->run_widened(ctx, op, call, pass)
                                                   : gr__run_plain(ctx, op, call, pass);
}

/* The kernel, timed, counted and reported. */
static bool run_traced(gr_context *ctx, const gr_op *op, gr_call *call, gr_pass pass)
{
    gr_device *d = ctx->device;
    gr_trace_event event = {0};
    if (d->count_begin)
        d->count_begin(d);
    event.begin = gr__seconds();
    const int stretch = gr__trace_stretch_begin(ctx);
    const bool done = run(ctx, op, call, pass);
    gr__trace_stretch_end(ctx, stretch);
    event.end = gr__seconds();
    if (d->count_end)
        event.count = d->count_end(d);
    if (done)
        gr__trace_kernel(ctx, op, call, pass, event);
    return done;
}

bool gr__run_kernel(gr_context *ctx, const gr_op *op, gr_call *call, gr_pass pass)
{
    const bool watched = gr__range_begin(ctx, op->name, gr__pass_name(op, pass));
    const bool ran = ctx->trace ? run_traced(ctx, op, call, pass) : run(ctx, op, call, pass);
    if (watched)
        gr__range_end(ctx);
    const bool done = ran && !faulty(ctx, op);
    if (done && ctx->inspect && !ctx->planning)
        ctx->inspect(ctx->inspect_user, op, call, pass);
    return done;
}

/* Out[0], on the tape where it belongs there. */
static gr_tensor *finish(gr_build *b, bool alias)
{
    if (on_tape(b) && !gr__tape_append(b, alias))
        return NULL;
    return b->call.out[0] ? b->call.out[0] : b->call.in[0];
}

gr_tensor *gr__op_run(gr_build *b)
{
    return gr_ok(b->ctx) && gr__run_kernel(b->ctx, b->op, &b->call, GR_FORWARD) ? finish(b, false) : NULL;
}

gr_tensor *gr__op_run_alias(gr_build *b, int ndim, const int64_t *shape)
{
    b->call.out[0] = gr__tensor_alias(b->call.in[0], ndim, shape);
    return b->call.out[0] ? finish(b, true) : NULL;
}
