/* trace.c - what a context tells whoever looks on: kernels, copies, and the spans around them. */
#include "core/trace.h"

#include <stdio.h>

#include "core/clock.h"
#include "core/watch.h"

void gr_trace(gr_context *ctx, void (*hook)(void *user, const gr_trace_event *event), void *user)
{
    if (!ctx)
        return;
    if (!hook)
        gr_trace_device(ctx, false);
    ctx->trace = hook;
    ctx->trace_user = user;
    if (ctx->arena)
        gr__arena_take_most(ctx->arena); /* what was taken unseen belongs to no event */
    gr__lent_take_most(&ctx->lent);
}

void gr_watch_ranges(gr_context *ctx, const gr_ranges *ranges)
{
    if (ctx)
        ctx->ranges = ranges ? *ranges : (gr_ranges){0};
}

bool gr__range_begin(const gr_context *ctx, const char *name, const char *pass)
{
    if (!ctx->ranges.begin || ctx->planning)
        return false;
    ctx->ranges.begin(ctx->ranges.user, name, ctx->module, pass);
    return true;
}

void gr__range_end(const gr_context *ctx)
{
    if (ctx->ranges.end)
        ctx->ranges.end(ctx->ranges.user);
}

static void report(gr_context *ctx, gr_trace_event *event)
{
    event->memory = ctx->persistent + gr__step_take_most(ctx);
    ctx->trace(ctx->trace_user, event);
    gr_trace_tag(ctx, 0); /* what the hook has left without one */
}

/* --- device times ------------------------------------------------------------------------------------------------- */

static gr_stopwatch *stopwatch_of(const gr_context *ctx)
{
    return ctx && ctx->device ? ctx->device->stopwatch : NULL;
}

bool gr_trace_device(gr_context *ctx, bool on)
{
    gr_stopwatch *w = stopwatch_of(ctx);
    if (w && !on)
        gr__stopwatch_stop(w);
    if (!w || !on || !gr_ok(ctx) || !ctx->trace || ctx->options.plan_only)
        return false;
    return gr__stopwatch_start(w) || gr__device_failed(ctx, "its clock was read");
}

void gr_trace_tag(gr_context *ctx, int64_t tag)
{
    gr_stopwatch *w = stopwatch_of(ctx);
    if (w)
        gr__stopwatch_tag(w, tag);
}

bool gr_trace_device_times(gr_context *ctx, void (*tell)(void *user, const gr_device_time *time), void *user)
{
    gr_stopwatch *w = stopwatch_of(ctx);
    bool complete;
    if (!w || !w->on || !gr_ok(ctx))
        return false;
    if (!gr__stopwatch_read(w, tell, user, &complete))
        return gr__device_failed(ctx, "its clock was read");
    return complete;
}

int gr__trace_stretch_begin(gr_context *ctx)
{
    if (!ctx->trace || ctx->planning)
        return -1;
    return gr__stopwatch_begin(ctx->device->stopwatch, GR_STREAM_COMPUTE, ctx->device->queue);
}

void gr__trace_stretch_end(gr_context *ctx, int stretch)
{
    if (stretch >= 0)
        gr__stopwatch_end(ctx->device->stopwatch, stretch, ctx->device->queue);
    else if (ctx->trace && ctx->device->wait)
        ctx->device->wait(ctx->device);
}

/* --- kernels ------------------------------------------------------------------------------------------------------ */

static double bytes_of(const gr_tensor *t)
{
    return t ? (double)gr__bytes(t) : 0;
}

/* Every tensor of the call once, as its slots say. */
static void count_forward(const gr_op *op, const gr_call *call, gr_trace_event *event)
{
    for (int i = 0; i < op->n_in; i++) {
        const unsigned flags = op->in[i].flags;
        const gr_tensor *t = flags & GR_SLOT_PICKED ? call->out[0] : call->in[i];
        if ((flags & GR_SLOT_REPLACED) != GR_SLOT_REPLACED)
            event->bytes_read += bytes_of(t);
        if (flags & GR_SLOT_CHANGED)
            event->bytes_written += bytes_of(t);
    }
    for (int i = 0; i < op->n_out; i++)
        event->bytes_written += bytes_of(call->out[i]);
    event->bytes_written += bytes_of(call->copy);
}

static void count_backward(const gr_op *op, const gr_call *call, gr_trace_event *event)
{
    event->bytes_read = bytes_of(call->d_out[0]);
    for (int i = 0; i < op->n_out; i++)
        if (op->out[i].flags & (GR_SLOT_SAVED | GR_SLOT_TAPED))
            event->bytes_read += bytes_of(call->out[i]);
    for (int i = 0; i < op->n_in; i++) {
        if (op->in[i].flags & GR_SLOT_SAVED)
            event->bytes_read += bytes_of(call->in[i]);
        if (call->accumulate >> i & 1)
            event->bytes_read += bytes_of(call->d_in[i]);
        event->bytes_written += bytes_of(call->d_in[i]);
    }
}

const char *gr__pass_name(const gr_op *op, gr_pass pass)
{
    return op->kind == GR_UPDATE ? "update" : pass == GR_FORWARD ? "forward" : "backward";
}

void gr__trace_kernel(gr_context *ctx, const gr_op *op, const gr_call *call, gr_pass pass, gr_trace_event event)
{
    event.kind = GR_TRACE_KERNEL;
    event.op = op->name;
    event.module = ctx->module;
    event.pass = gr__pass_name(op, pass);
    event.flops = op->flops(call, pass);
    (pass == GR_FORWARD ? count_forward : count_backward)(op, call, &event);
    ctx->traced_op = op;
    ctx->traced_call = call;
    ctx->traced_result = op->kind != GR_UPDATE && pass == GR_FORWARD && !ctx->planning ? call->out[0] : NULL;
    report(ctx, &event);
    ctx->traced_op = NULL;
    ctx->traced_result = NULL;
}

void gr__trace_sum(gr_context *ctx, const gr_tensor *sum, double begin)
{
    if (begin == 0)
        return;
    gr__range_end(ctx);
    if (!ctx->trace)
        return;
    report(ctx, &(gr_trace_event){.op = "add_gradient",
                                  .module = ctx->module,
                                  .pass = "backward",
                                  .flops = (double)sum->count,
                                  .bytes_read = 2 * bytes_of(sum),
                                  .bytes_written = bytes_of(sum),
                                  .begin = begin,
                                  .end = gr__seconds()});
}

char *gr_trace_shapes(const gr_context *ctx, char *text, size_t size)
{
    size_t at = 0;
    if (size > 0)
        *text = '\0';
    for (int i = 0; ctx && ctx->traced_op && i < ctx->traced_op->n_in && at < size; i++) {
        char shape[96];
        if (!ctx->traced_call->in[i])
            continue;
        gr__shape_text(ctx->traced_call->in[i], shape, sizeof shape);
        at += (size_t)snprintf(text + at, size - at, "%s%s%s", at ? " " : "", ctx->traced_op->in[i].name, shape);
    }
    return text;
}

gr_tensor *gr_trace_result(const gr_context *ctx)
{
    return ctx ? ctx->traced_result : NULL;
}

/* --- copies and spans --------------------------------------------------------------------------------------------- */

double gr_span_begin(const gr_context *ctx, const char *name)
{
    if (!ctx || ctx->planning)
        return 0;
    return gr__range_begin(ctx, name, "") || ctx->trace ? gr__seconds() : 0;
}

void gr_span_end(gr_context *ctx, const char *name, double begin)
{
    if (!ctx || begin == 0)
        return;
    gr__range_end(ctx);
    if (ctx->trace)
        ctx->trace(ctx->trace_user, &(gr_trace_event){.kind = GR_TRACE_SPAN,
                                                      .op = name,
                                                      .module = ctx->module,
                                                      .pass = "",
                                                      .begin = begin,
                                                      .end = gr__seconds()});
}

void gr__trace_copy(gr_context *ctx, const char *name, size_t bytes, double begin)
{
    if (begin == 0)
        return;
    gr__range_end(ctx);
    if (!ctx->trace)
        return;
    const gr_op *op = ctx->traced_op; /* of a hook that copies a result: the copy is no kernel, and has none */
    gr_tensor *result = ctx->traced_result;
    ctx->traced_op = NULL;
    ctx->traced_result = NULL;
    report(ctx, &(gr_trace_event){.kind = GR_TRACE_COPY,
                                  .op = name,
                                  .module = ctx->module,
                                  .pass = "",
                                  .bytes_read = (double)bytes,
                                  .bytes_written = (double)bytes,
                                  .begin = begin,
                                  .end = gr__seconds()});
    ctx->traced_op = op;
    ctx->traced_result = result;
}

void gr__trace_elsewhere(gr_context *ctx, const char *name, int thread, int64_t begin, int64_t end)
{
    if (ctx->trace)
        ctx->trace(ctx->trace_user, &(gr_trace_event){.kind = GR_TRACE_SPAN,
                                                      .op = name,
                                                      .module = "",
                                                      .pass = "",
                                                      .thread = thread,
                                                      .begin = 1e-9 * (double)begin,
                                                      .end = 1e-9 * (double)end});
}
