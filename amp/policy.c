/*
 * policy.c - which tensors are halves. ops.def gives every slot of an operation a type, once for every device; here is
 * what the types mean in a precision.
 *
 *   type       a tensor in that slot is         under fp16 and bf16            otherwise
 *   HALF       read or written as a half        half (a float is cast first)   real
 *   EITHER     whatever its inputs are          half or real                   real
 *   FLOATING   of any floating-point type       as it is                       as it is
 *   REAL       always real: sums, statistics    real                           real
 *   U8, I32    bytes, 32-bit integers
 */
#include "amp/mixed.h"
#include "core/context.h"

gr_type gr__policy_compute(gr_precision precision, gr_type real)
{
    return precision == GR_PRECISION_FP16 ? GR_F16 : precision == GR_PRECISION_BF16 ? GR_BF16 : real;
}

static gr_type slot_type(const gr_context *ctx, const gr_slot *slot)
{
    return slot->type == GR_SLOT_U8     ? GR_U8
           : slot->type == GR_SLOT_I32  ? GR_I32
           : slot->type == GR_SLOT_HALF ? ctx->compute
                                        : ctx->device->real;
}

gr_type gr__policy_input(const gr_context *ctx, const gr_slot *slot, const gr_tensor *t)
{
    const gr_type wanted = slot_type(ctx, slot);
    const bool floating = wanted != GR_U8 && wanted != GR_I32;
    const bool any = slot->type == GR_SLOT_FLOATING, changed = slot->flags & GR_SLOT_CHANGED;
    if (gr__is_half(t) && floating && !changed && (any || t->type == ctx->compute))
        return t->type;
    return slot->type == GR_SLOT_HALF ? ctx->device->real : wanted; /* gr__cast_inputs will take a copy */
}

/* The type of an output that goes by its inputs: the half one if all that could be are. */
static gr_type either_type(const gr_build *b)
{
    for (int i = 0; i < b->op->n_in; i++)
        if (b->op->in[i].type == GR_SLOT_EITHER && b->call.in[i] && b->call.in[i]->type != b->ctx->compute)
            return b->ctx->device->real;
    return b->ctx->compute;
}

gr_type gr__policy_output(const gr_build *b, const gr_slot *slot)
{
    return slot->type == GR_SLOT_EITHER ? either_type(b) : slot_type(b->ctx, slot);
}

bool gr__policy_widens(const gr_context *ctx, const gr_op *op, const gr_call *call, gr_pass pass)
{
    const gr_kernel *kernel = &ctx->device->kernels[op->id];
    bool halves = false;
    for (int i = 0; i < call->n_in; i++)
        halves |= gr__is_half(call->in[i]) || gr__is_half(call->d_in[i]);
    for (int i = 0; i < call->n_out; i++)
        halves |= gr__is_half(call->out[i]) || gr__is_half(call->d_out[i]);
    return halves && op->in[0].type != GR_SLOT_FLOATING && !(kernel->halves && kernel->halves(call, pass));
}

static bool half_by_type(const gr_slot *slot)
{
    return slot->type == GR_SLOT_HALF || slot->type == GR_SLOT_EITHER;
}

/* Whether t, if it is there, is a half of the type where one is wanted, and none where not. */
static bool is_wanted(const gr_tensor *t, bool half, gr_type type)
{
    return !t || (half ? t->type == type : !gr__is_half(t));
}

bool gr__halves_by_type(const gr_op *op, const gr_call *call, gr_pass pass)
{
    const bool result = call->out[0] && half_by_type(&op->out[0]); /* a loss is none, nor is dX that nobody wants */
    const gr_tensor *first = result ? call->out[0] : call->in[0];
    const gr_type type = first->type;
    bool good = gr__is_half(first);
    for (int i = 0; good && i < op->n_in; i++) {
        const gr_slot *slot = &op->in[i];
        const bool half = half_by_type(slot);
        const bool activation = slot->type == GR_SLOT_EITHER || (slot->flags & GR_SLOT_SAMPLES);
        good = is_wanted(call->in[i], half, type);
        if (pass == GR_BACKWARD)
            good &= is_wanted(call->d_in[i], half && activation, type);
    }
    for (int i = 0; good && i < op->n_out; i++)
        good = is_wanted(call->out[i], half_by_type(&op->out[i]), type) &&
               (pass == GR_FORWARD || is_wanted(call->d_out[i], half_by_type(&op->out[i]), type));
    return good;
}
