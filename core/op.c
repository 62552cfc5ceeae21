/* op.c - how a front turns tensors and options into a call: slots, checks, outputs, messages, the kernel's run. */
#include "core/op.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/context.h"
#include "core/slab.h"

bool gr__slot(const char *slots, int i, gr_slot *slot)
{
    const char *p = slots + strspn(slots, " ");
    for (; i > 0 && *p; i--) {
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    if (!*p)
        return false;
    size_t name = strcspn(p, ":");
    *slot = (gr_slot){.type = p[name + 1]};
    memcpy(slot->name, p, name < sizeof slot->name ? name : sizeof slot->name - 1);
    for (p += name + 2; *p && *p != ' '; p++) {
        slot->grad |= *p == '*';
        slot->optional |= *p == '?';
        slot->in_place |= *p == '&';
        slot->samples |= *p == '#';
    }
    return true;
}

int gr__slot_count(const char *slots)
{
    int n = 0;
    for (gr_slot slot; gr__slot(slots, n, &slot);)
        n++;
    return n;
}

static gr_type slot_type(const gr_context *ctx, const gr_slot *slot)
{
    return slot->type == 'u'   ? GR_U8
           : slot->type == 'i' ? GR_I32
           : slot->type == 'h' ? ctx->compute
                               : ctx->device->real;
}

/* The type of an output that goes by its inputs: the half one if all that could be are. */
static gr_type either_type(const gr_build *b)
{
    gr_slot slot;
    for (int i = 0; gr__slot(b->op->inputs, i, &slot); i++)
        if (slot.type == 'e' && b->call.in[i] && b->call.in[i]->type != b->ctx->compute)
            return b->ctx->device->real;
    return b->ctx->compute;
}

/* "conv2d (conv1) x[2,8,8,3] w[4,3,3,3]" into text: the call as a message names it. */
static void call_text(const gr_build *b, char *text, size_t size)
{
    const char *module = b->ctx->module;
    size_t at = (size_t)snprintf(text, size, *module ? "%s (%s)" : "%s", b->op->name, module);
    gr_slot slot;
    for (int i = 0; gr__slot(b->op->inputs, i, &slot) && at < size; i++) {
        if (!b->call.in[i])
            continue;
        char shape[96];
        gr__shape_text(b->call.in[i], shape, sizeof shape);
        at += (size_t)snprintf(text + at, size - at, " %s%s", slot.name, shape);
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
    gr_type wanted = slot_type(b->ctx, slot);
    const bool floating = wanted != GR_U8 && wanted != GR_I32;
    if (gr__is_half(t) && floating && !slot->in_place && (slot->type == 'a' || t->type == b->ctx->compute))
        wanted = t->type;
    else if (slot->type == 'h')
        wanted = b->ctx->device->real; /* narrow() will take a copy */
    if (t->ctx != b->ctx)
        gr__op_fail(b, "%s belongs to another context", slot->name);
    else if (t->type != wanted)
        gr__op_fail(b, "%s has type %s, wanted is %s", slot->name, gr_type_name(t->type), gr_type_name(wanted));
    else if (!t->data && !b->ctx->planning)
        gr__op_fail(b, "the storage of %s was given back: gr_backward releases activations, gr_step_end everything",
                    slot->name);
    return gr_ok(b->ctx);
}

/*
 * Halves in place of real inputs where the operation asks for them; no copy of what is about to change is kept. False:
 * recorded.
 */
static bool narrow(gr_build *b)
{
    const unsigned rounds = b->ctx->device->kernels[b->op->id].rounds;
    gr_slot slot;
    for (int i = 0; gr__slot(b->op->inputs, i, &slot); i++) {
        gr_tensor *t = b->call.in[i];
        const bool as_half = slot.type == 'h' && !(rounds >> i & 1);
        if (t && slot.in_place)
            t->half = NULL;
        if (t && slot.in_place && t->slab)
            t->slab->moved = true;
        if (t && as_half && t->type != b->ctx->compute && !(b->call.in[i] = gr__half_copy(t)))
            return false;
    }
    return true;
}

bool gr__op_begin(gr_build *b, const gr_op *op, gr_tensor *const *in, const void *args, size_t args_size)
{
    *b = (gr_build){.op = op};
    gr_slot slot;
    for (int i = 0; gr__slot(op->inputs, i, &slot); i++) {
        if (in[i] ? !gr__alive(in[i], op->name) : !slot.optional)
            return false;
        b->call.in[i] = in[i];
        b->call.n_in = i + 1;
        if (in[i] && !b->ctx)
            b->ctx = in[i]->ctx;
    }
    if (!gr_ok(b->ctx))
        return false;
    b->call.n_out = gr__slot_count(op->outputs);
    if (args && args_size <= sizeof b->args)
        memcpy(b->args, args, args_size);
    b->call.options = b->args;
    for (int i = 0; gr__slot(op->inputs, i, &slot); i++)
        if (in[i] && !fits(b, &slot, in[i]))
            return false;
    return narrow(b);
}

void *gr__op_args(gr_build *b)
{
    return b->args;
}

uint32_t gr__op_draw(gr_build *b)
{
    return (uint32_t)b->ctx->n_draws++;
}

/* Whether this call will be differentiated. */
static bool on_tape(const gr_build *b)
{
    if (b->op->kind != GR_DIFF || !b->ctx->recording)
        return false;
    for (int i = 0; i < b->call.n_in; i++)
        if (b->call.in[i] && b->call.in[i]->wants_grad)
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
    gr_slot slot;
    if (!gr__slot(b->op->outputs, slot_index, &slot))
        return false;
    if (slot_index > 0 && slot.optional && b->op->kind == GR_DIFF && !on_tape(b))
        return true;
    return gr__op_output_as(b, slot_index, slot.type == 'e' ? either_type(b) : slot_type(b->ctx, &slot), ndim, shape);
}

static void report(gr_context *ctx, const gr_op *op, const gr_call *call, gr_pass pass, gr_trace_event event)
{
    event.op = op->name;
    event.module = ctx->module;
    event.pass = op->kind == GR_UPDATE ? "update" : pass == GR_FORWARD ? "forward" : "backward";
    event.flops = op->flops(call, pass);
    ctx->trace(ctx->trace_user, &event);
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

bool gr__run_plain(gr_context *ctx, const gr_op *op, gr_call *call, gr_pass pass)
{
    const gr_kernel *kernel = &ctx->device->kernels[op->id];
    gr_exec exec = {.pool = ctx->device->pool,
                    .queue = ctx->device->queue,
                    .state = ctx->device_state,
                    .tf32 = ctx->options.precision == GR_PRECISION_TF32};
    call->exec = &exec;
    size_t bytes = kernel->scratch ? kernel->scratch(call, pass) : 0;
    gr_block scratch = {0};
    if (bytes && !gr__step_take(ctx, bytes, &scratch, &exec.scratch))
        return false;
    if (!ctx->planning)
        (pass == GR_FORWARD ? kernel->forward : kernel->backward)(call);
    if (bytes)
        gr__step_give(ctx, &scratch);
    call->exec = NULL;
    return true;
}

/* Whether only a kernel for floats could run the call although there are halves in it. */
static bool wants_widening(const gr_kernel *kernel, const gr_op *op, const gr_call *call, gr_pass pass)
{
    bool halves = false;
    for (int i = 0; i < call->n_in; i++)
        halves |= gr__is_half(call->in[i]) || gr__is_half(call->d_in[i]);
    for (int i = 0; i < call->n_out; i++)
        halves |= gr__is_half(call->out[i]) || gr__is_half(call->d_out[i]);
    gr_slot slot;
    return halves && gr__slot(op->inputs, 0, &slot) && slot.type != 'a' &&
           !(kernel->halves && kernel->halves(call, pass));
}

static bool run(gr_context *ctx, const gr_op *op, gr_call *call, gr_pass pass)
{
    return wants_widening(&ctx->device->kernels[op->id], op, call, pass) ? gr__run_widened(ctx, op, call, pass)
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
    const bool done = run(ctx, op, call, pass);
    if (d->wait)
        d->wait(d);
    event.end = gr__seconds();
    if (d->count_end)
        event.count = d->count_end(d);
    if (done)
        report(ctx, op, call, pass, event);
    return done;
}

bool gr__run_kernel(gr_context *ctx, const gr_op *op, gr_call *call, gr_pass pass)
{
    const bool done = (ctx->trace ? run_traced(ctx, op, call, pass) : run(ctx, op, call, pass)) && !faulty(ctx, op);
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
