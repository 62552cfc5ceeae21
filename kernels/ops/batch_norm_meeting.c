/* batch_norm_meeting.c - see batch_norm_meeting.h. */
#include "kernels/ops/batch_norm_meeting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/group/meeting.h"
#include "kernels/ops/kernels.h"

enum { X, GAMMA, BETA, MEAN = 4, VAR, TRACKED_MEAN, TRACKED_VAR }; /* inputs */

/* --- numbers of the device and of the host ------------------------------------------------------------------------ */

/* A vector of the device's real type as doubles. False: recorded. */
static bool read(const gr_tensor *t, double *values)
{
    if (t->type == GR_F64)
        return gr_download(t, values);
    float *floats = gr__calloc(t->ctx, (size_t)t->count, sizeof *floats);
    const bool good = floats && gr_download(t, floats);
    for (int64_t i = 0; good && i < t->count; i++)
        values[i] = (double)floats[i];
    free(floats);
    return good;
}

/* The other way. False: recorded. */
static bool write(gr_tensor *t, const double *values)
{
    if (t->type == GR_F64)
        return gr_upload(t, values);
    float *floats = gr__calloc(t->ctx, (size_t)t->count, sizeof *floats);
    for (int64_t i = 0; floats && i < t->count; i++)
        floats[i] = (float)values[i];
    const bool good = floats && gr_upload(t, floats);
    free(floats);
    return good;
}

/* --- what ranks tell each other: how many values a channel has, and two vectors ----------------------------------- */

typedef struct {
    gr_context *ctx;
    int64_t C, count;  /* channels; numbers that a rank tells */
    double *own;       /* [count]: n, first[C], second[C] */
    const double *all; /* [ranks][count] */
    double N;          /* values of a channel, of all ranks */
} talk;

/* False: recorded. */
static bool meet(talk *t, int64_t n, const gr_tensor *first, const gr_tensor *second)
{
    *t = (talk){.ctx = first->ctx, .C = first->count, .count = 1 + 2 * first->count};
    t->own = gr__meeting_own(t->ctx->meeting, t->ctx, t->count);
    if (!t->own)
        return false;
    t->own[0] = (double)n;
    if (!read(first, t->own + 1) || !read(second, t->own + 1 + t->C))
        return false;
    t->all = gr__meet(t->ctx->meeting, t->ctx, t->count);
    for (int r = 0; t->all && r < gr_group_size(t->ctx->meeting->group); r++)
        t->N += t->all[r * t->count];
    return t->all;
}

/* Mean and variance of channel c over all ranks. */
static void join(const talk *t, int64_t c, double *mean, double *var)
{
    const int ranks = gr_group_size(t->ctx->meeting->group);
    *mean = *var = 0;
    for (int r = 0; r < ranks; r++)
        *mean += t->all[r * t->count] * t->all[r * t->count + 1 + c] / t->N;
    for (int r = 0; r < ranks; r++) {
        const double away = t->all[r * t->count + 1 + c] - *mean;
        *var += t->all[r * t->count] * (t->all[r * t->count + 1 + t->C + c] + away * away) / t->N;
    }
}

/* Number i of those told, over all ranks. */
static double sum(const talk *t, int64_t i)
{
    double total = 0;
    for (int r = 0; r < gr_group_size(t->ctx->meeting->group); r++)
        total += t->all[r * t->count + i];
    return total;
}

/* --- forward ------------------------------------------------------------------------------------------------------ */

bool gr__batch_norm_meet(gr_build *b)
{
    gr_context *ctx = b->ctx;
    gr_tensor *mean = b->call.out[1], *var = b->call.out[2];
    const int64_t n = b->call.in[X]->count / mean->count;
    gr_call own = b->call; /* y is written again, by the statistics of all, which are those to be tracked */
    talk t;
    own.in[TRACKED_MEAN] = own.in[TRACKED_VAR] = NULL;
    if (!gr__run_kernel(ctx, b->op, &own, GR_FORWARD))
        return false;
    ctx->meeting->values = n * gr_group_size(ctx->meeting->group);
    if (ctx->planning)
        return true;
    if (!meet(&t, n, mean, var))
        return false;
    ctx->meeting->values = (int64_t)t.N;
    if (t.N < 2)
        return gr__op_fail(b, "one value per channel in all shards has no variance; leave a last batch of one sample "
                              "out (GR_DROP, --last-batch drop)");
    for (int64_t c = 0; c < t.C; c++)
        join(&t, c, &t.own[1 + c], &t.own[1 + t.C + c]);
    return write(mean, t.own + 1) && write(var, t.own + 1 + t.C);
}

/* --- backward ----------------------------------------------------------------------------------------------------- */

/* dX += scale h + shift, h by mean and var; see batch_norm_meeting.h. False: recorded. */
static bool add_line(const gr_node *node, gr_call *call, gr_tensor *scale, gr_tensor *shift)
{
    gr_batch_norm_args args = *(const gr_batch_norm_args *)call->options;
    args.relu = false;
    gr_call line = {.options = &args, .n_in = call->n_in, .n_out = call->n_out, .out = {call->d_in[X]}};
    memcpy(line.in, (gr_tensor *[]){call->in[X], scale, shift, call->d_in[X], call->in[MEAN], call->in[VAR]},
           6 * sizeof line.in[0]);
    return gr__run_kernel(call->in[X]->ctx, node->op, &line, GR_FORWARD);
}

/* From this rank's sums of dz h and of dz to what all ranks' take from dX. False: recorded. */
static bool make_line(const gr_call *call, gr_tensor *const sums[2], gr_tensor *scale, gr_tensor *shift)
{
    const gr_batch_norm_args *args = call->options;
    talk t;
    if (scale->ctx->planning)
        return true;
    if (!meet(&t, call->in[X]->count / scale->count, sums[0], sums[1]))
        return false;
    double *gamma = t.own + 1, *var = t.own + 1 + t.C; /* what was told lies in all, too */
    if (!read(call->in[GAMMA], gamma) || !read(call->in[VAR], var))
        return false;
    for (int64_t c = 0; c < t.C; c++) {
        const double factor = -gamma[c] / sqrt(var[c] + args->epsilon) / t.N;
        gamma[c] = factor * sum(&t, 1 + c);
        var[c] = factor * sum(&t, 1 + t.C + c);
    }
    return write(scale, gamma) && write(shift, var);
}

static gr_tensor *vector_like(const gr_tensor *t)
{
    return gr__tensor_step(t->ctx, gr_real(t->ctx), 1, t->shape);
}

/* The part of dX that all ranks make together. False: recorded. */
static bool add_common(const gr_node *node, gr_call *call, gr_tensor *const sums[2])
{
    gr_tensor *scale = vector_like(call->in[GAMMA]), *shift = scale ? vector_like(call->in[GAMMA]) : NULL;
    const bool good = shift && make_line(call, sums, scale, shift) && add_line(node, call, scale, shift);
    gr__release(scale);
    gr__release(shift);
    return good;
}

/* The sums are wanted apart from what dgamma and dbeta have already: they go there, or to a place of their own. */
bool gr__batch_norm_meet_backward(gr_node *node, gr_call *call)
{
    gr_call own = *call;
    bool good = true;
    for (int i = GAMMA; good && i <= BETA; i++) {
        if (!own.d_in[i] || own.accumulate >> i & 1)
            own.d_in[i] = vector_like(call->in[GAMMA]);
        own.accumulate &= ~(1u << i);
        good = own.d_in[i];
    }
    good = good && gr__run_kernel(call->in[X]->ctx, node->op, &own, GR_BACKWARD) &&
           (!call->d_in[X] || add_common(node, call, &own.d_in[GAMMA]));
    for (int i = GAMMA; i <= BETA; i++) {
        if (own.d_in[i] == call->d_in[i])
            continue;
        good = good && (!call->d_in[i] || gr__add_to(call->d_in[i], own.d_in[i]));
        gr__release(own.d_in[i]);
    }
    return good;
}
