/* overflow.c - see overflow.h. */
#include "amp/overflow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/half.h"

static bool all_finite(const gr_tensor *t)
{
    if (!t || !t->data || (t->type != GR_F32 && !gr__is_half(t)))
        return true;
    void *host = gr__calloc(t->ctx, (size_t)t->count, gr_type_size(t->type));
    bool finite = host && gr_download(t, host);
    for (int64_t i = 0; finite && i < t->count; i++)
        finite = isfinite(t->type == GR_F32   ? (double)((float *)host)[i]
                          : t->type == GR_F16 ? gr__f16_value(((uint16_t *)host)[i])
                                              : gr__bf16_value(((uint16_t *)host)[i]));
    free(host);
    return finite;
}

static void inspect(void *user, const gr_op *op, const gr_call *call, gr_pass pass)
{
    gr_overflow_watch *watch = user;
    if (op == call->in[0]->ctx->device->cast) /* of all weights at once: the layer that reads them is to be named */
        return;
    bool finite = true;
    for (int i = 0; i < GR_MAX_OUT && pass == GR_FORWARD && !*watch->where; i++)
        finite &= all_finite(call->out[i]);
    for (int i = 0; i < GR_MAX_IN && pass == GR_BACKWARD && !*watch->where; i++)
        finite &= all_finite(call->d_in[i]);
    if (finite)
        return;
    const char *module = call->in[0]->ctx->module;
    snprintf(watch->where, sizeof watch->where, *module ? "the %s pass of %s (%s)" : "the %s pass of %s",
             pass == GR_FORWARD ? "forward" : "backward", op->name, module);
}

void gr__overflow_watch_begin(gr_context *ctx, gr_overflow_watch *watch)
{
    *watch = (gr_overflow_watch){0};
    ctx->inspect = inspect;
    ctx->inspect_user = watch;
}

void gr__overflow_watch_end(gr_context *ctx)
{
    ctx->inspect = NULL;
}
