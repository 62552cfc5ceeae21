/*
 * halves.c - rule (d): an operation on halves is at most twice as far from the truth as one that stores halves and
 * computes in floats, plus one unit in the last place; tensor cores may also cut what truth_cut() says. Truth and that
 * plain path are ref in double and in float on the same rounded inputs.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/half.h"
#include "tests/table/checks.h"
#include "tests/table/device.h"
#include "tests/table/draw.h"
#include "tests/table/report.h"

enum { TRUTH, PLAIN, REF, CPU, SIMT, CUDA, PATHS };

static const char *const device_names[PATHS] = {"ref", "ref", "ref", "cpu", "simt", "cuda"};

/* A tensor of a call on every path. */
typedef struct {
    char name[20];
    bool half; /* by the policy, a half where there are halves; a real one there is rounded by the kernel */
    gr_tensor *t[PATHS];
} operand;

typedef struct {
    const truth *t;
    const row *r;
    gr_type type;           /* of the halves */
    bool as_made;           /* halves are given to kernels that would round floats, too */
    bool of_floats;         /* inputs are copies of floats: so are their gradients */
    gr_context *ctx[PATHS]; /* NULL: not asked for */
    gr_call call[PATHS];
    operand in[GR_MAX_IN], out[GR_MAX_OUT], d_in[GR_MAX_IN], d_out;
} half_trial;

static double rounded(gr_type type, double v)
{
    return type == GR_F16 ? gr__f16_value(gr__f16_of(v)) : gr__bf16_value(gr__bf16_of(v));
}

/* Opened once; the program's end closes them. */
static gr_context *context(int path, gr_type type)
{
    static gr_context *opened[2][PATHS];
    const gr_precision precision = path == TRUTH    ? GR_PRECISION_FP64
                                   : path == PLAIN  ? GR_PRECISION_FP32
                                   : type == GR_F16 ? GR_PRECISION_FP16
                                                    : GR_PRECISION_BF16;
    gr_context **ctx = &opened[type == GR_BF16][path];
    if (!*ctx)
        *ctx = gr_open(&(gr_options){.device = device_names[path], .precision = precision});
    return *ctx;
}

/* Takes count values on every path, rounded where the operand is a half, unless the kernel is to do it. */
static void put(const half_trial *h, const operand *o, const double *values, int64_t count)
{
    double *half = malloc((size_t)count * sizeof *half);
    for (int64_t i = 0; i < count; i++)
        half[i] = o->half ? rounded(h->type, values[i]) : values[i];
    for (int p = 0; p < PATHS; p++)
        if (o->t[p] && !front_fill(o->t[p], p > PLAIN && !gr__is_half(o->t[p]) ? values : half))
            report_failure(h->r, "halves", "%s", gr_error_text(h->ctx[p]));
    free(half);
}

/* reals: bit p: this tensor stays real on path p whatever the policy says. */
static operand make(const half_trial *h, const gr_slot *slot, const gr_tensor *shape, const char *prefix, bool half,
                    unsigned reals)
{
    operand o = {.half = half};
    snprintf(o.name, sizeof o.name, "%s%s", prefix, slot->name);
    for (int p = 0; p < PATHS; p++)
        if (h->ctx[p])
            o.t[p] = gr__tensor_step(h->ctx[p],
                                     slot->type == GR_SLOT_U8                 ? GR_U8
                                     : slot->type == GR_SLOT_I32              ? GR_I32
                                     : half && p > PLAIN && !(reals >> p & 1) ? h->type
                                                                              : gr_real(h->ctx[p]),
                                     shape->ndim, shape->shape);
    return o;
}

static bool is_half(const gr_slot *slot)
{
    return slot->type == GR_SLOT_HALF || slot->type == GR_SLOT_EITHER;
}

static void draw_into(const half_trial *h, const operand *o, uint32_t stream, int input)
{
    const int64_t count = o->t[TRUTH]->count;
    double *values = calloc((size_t)count, sizeof *values);
    if (input >= 0)
        draw_input(h->r, input, count, values);
    else
        draw_stream(h->r, stream, count, values);
    put(h, o, values, count);
    free(values);
}

/* The paths whose kernel rounds in[i] itself. */
static unsigned rounding(const half_trial *h, int i)
{
    unsigned paths = 0;
    for (int p = REF; p < PATHS; p++)
        paths |= h->ctx[p] && h->ctx[p]->device->kernels[h->r->op->id].rounds >> i & 1 ? 1u << p : 0;
    return paths;
}

/* All operands, and the calls that they make. Activations' gradients are halves, parameters' are not. */
static void set_up(half_trial *h, const row_call *shapes)
{
    const gr_op *op = h->r->op;
    for (int i = 0; i < op->n_in; i++) {
        const gr_slot *slot = &op->in[i];
        const bool samples = slot->flags & GR_SLOT_SAMPLES;
        if (!shapes->call.in[i])
            continue;
        h->in[i] = make(h, slot, &shapes->in[i], "", is_half(slot), h->as_made ? 0 : rounding(h, i));
        draw_into(h, &h->in[i], 0, i);
        const bool half = slot->type == GR_SLOT_EITHER || (slot->type == GR_SLOT_HALF && samples);
        if (slot->flags & GR_SLOT_GRAD)
            h->d_in[i] = make(h, slot, &shapes->in[i], "d", half && !h->of_floats, 0);
    }
    for (int i = 0; i < op->n_out; i++)
        if (shapes->call.out[i])
            h->out[i] = make(h, &op->out[i], &shapes->out[i], "", is_half(&op->out[i]), 0);
    h->d_out = make(h, &op->out[0], &shapes->out[0], "d", is_half(&op->out[0]), 0);
    draw_into(h, &h->d_out, DRAW_DY, -1);
    for (int p = 0; p < PATHS; p++) {
        gr_call *c = &h->call[p];
        *c = (gr_call){.options = shapes->args, .n_in = shapes->call.n_in, .n_out = shapes->call.n_out};
        for (int i = 0; i < GR_MAX_IN; i++)
            c->in[i] = h->in[i].t[p];
        for (int i = 0; i < GR_MAX_OUT; i++)
            c->out[i] = h->out[i].t[p];
    }
}

/* The row's step state, the part included that belongs to the device. */
static bool set_state(gr_context *ctx, const row *r)
{
    return front_state(ctx, r) && (!ctx->scaler || gr_upload(ctx->scaler, &r->state.loss_scale));
}

static void run(half_trial *h, gr_pass pass)
{
    for (int p = 0; p < PATHS; p++)
        if (h->ctx[p] && (!set_state(h->ctx[p], h->r) || !gr__run_kernel(h->ctx[p], h->r->op, &h->call[p], pass)))
            report_failure(h->r, "halves", "%s: %s", device_names[p], gr_error_text(h->ctx[p]));
}

/* Distance of neighbouring halves near v. */
static double ulp(gr_type type, double v)
{
    int exponent;
    frexp(v, &exponent);
    const int bits = type == GR_F16 ? 11 : 8, least = type == GR_F16 ? -24 : -133;
    return ldexp(1, v != 0 && exponent - bits > least ? exponent - bits : least);
}

/* buffer: the operand's among those of the truth. */
static void compare(const half_trial *h, const operand *o, int buffer, const char *check)
{
    if (!o->t[TRUTH] || o->t[TRUTH]->type != GR_F64)
        return;
    double *exact = front_values(o->t[TRUTH]), *plain = front_values(o->t[PLAIN]), most = 0;
    const int64_t count = o->t[TRUTH]->count;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(exact[i]));
    for (int p = REF; p < PATHS; p++) {
        double *got = o->t[p] ? front_values(o->t[p]) : NULL;
        for (int64_t i = 0; got && i < count; i++) {
            const double at_best = o->half ? rounded(h->type, plain[i]) : plain[i];
            /* sums of floats in another order differ by the size of their terms, not by that of what is left of them */
            const double allowed = 2 * fabs(at_best - exact[i]) + (o->half ? ulp(h->type, exact[i]) : 0) +
                                   8 * FLT_EPSILON * most + (p >= SIMT ? truth_cut(h->t, buffer, i) : 0) +
                                   truth_rounded(h->t, &h->ctx[p]->device->kernels[h->r->op->id], h->type, buffer, i);
            if (fabs(got[i] - exact[i]) <= allowed || !isfinite(at_best))
                continue;
            report_failure(h->r, device_names[p], "%s in %s: %s[%lld] is %.9g, the exact %.9g, plain %.9g", check,
                           gr_type_name(h->type), o->name, (long long)i, got[i], exact[i], at_best);
            break;
        }
        free(got);
    }
    free(exact);
    free(plain);
}

/*
 * What is saved for backward is the truth's, rounded, on every path: which of two neighbours was the maximum is not the
 * matter.
 */
static void share_saved(half_trial *h)
{
    for (int i = 0; i < GR_MAX_OUT; i++) {
        if (!h->out[i].t[TRUTH])
            continue;
        double *values = front_values(h->out[i].t[TRUTH]);
        put(h, &h->out[i], values, h->out[i].t[TRUTH]->count);
        free(values);
    }
}

/* accumulate: bit i: into d_in[i] */
static void backward(half_trial *h, unsigned accumulate)
{
    for (int i = 0; i < GR_MAX_IN; i++)
        if (h->d_in[i].t[TRUTH])
            draw_into(h, &h->d_in[i], DRAW_PRELOAD + (uint32_t)i, -1);
    for (int p = 0; p < PATHS; p++) {
        for (int i = 0; i < GR_MAX_IN; i++)
            h->call[p].d_in[i] = h->d_in[i].t[p];
        h->call[p].d_out[0] = h->d_out.t[p];
        h->call[p].accumulate = accumulate;
    }
    run(h, GR_BACKWARD);
    for (int i = 0; i < GR_MAX_IN; i++)
        compare(h, &h->d_in[i], trial_d_in(i), accumulate >> i & 1 ? "backward, added" : "backward");
}

static void check_way(half_trial *h, const row_call *shapes)
{
    const gr_op *op = h->r->op;
    set_up(h, shapes);
    run(h, GR_FORWARD);
    for (int i = 0; i < GR_MAX_OUT; i++)
        compare(h, &h->out[i], trial_out(i), "forward");
    for (int i = 0; i < op->n_in; i++)
        if (op->in[i].flags & GR_SLOT_CHANGED)
            compare(h, &h->in[i], trial_in(i), "forward");
    share_saved(h);
    if (op->kind == GR_DIFF) {
        backward(h, 1); /* each gradient is added once, and overwrites once while another is added */
        backward(h, ~1u);
    }
    for (int p = 0; p < PATHS; p++)
        gr_step_end(h->ctx[p]);
}

void check_halves(const truth *t, bool ref, bool cpu, bool simt, bool cuda)
{
    const row *r = t->run.row;
    if (!r->op->n_out || !is_half(&r->op->out[0]))
        return;
    const bool asked[PATHS] = {true, true, ref, cpu, simt, cuda};
    for (int way = 0; way < 6; way++) {
        half_trial h = {.t = t, .r = r, .type = way % 2 ? GR_BF16 : GR_F16, .as_made = way >= 2, .of_floats = way >= 4};
        const bool takes = !cuda || table_device_takes(table_device_find("cuda"), h.type);
        for (int p = 0; p < PATHS; p++)
            h.ctx[p] =
                asked[p] && (p != CUDA || takes) && (!h.as_made || p <= PLAIN || p == CPU) ? context(p, h.type) : NULL;
        if (!h.as_made || (cpu && r->golden && h.ctx[CPU]->device->kernels[r->op->id].rounds)) /* small rows will do */
            check_way(&h, &t->run.shapes);
    }
}
