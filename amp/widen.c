/*
 * widen.c - any operation on halves by its kernel for floats.
 *
 * A call with halves in it runs as: widen what is read to floats, run the kernel for floats, round what it wrote. So
 * halves are stored, floats are summed, whatever the operation and the device. Where samples have nothing to do with
 * each other the call is cut into slices of a few samples: the floats stay in the caches, and no activation ever exists
 * in both types.
 */
#include "amp/cast.h"
#include "amp/mixed.h"

enum {
    SLICE_BYTES = 8 << 20, /* of floats in a slice, at least one sample */
    TOGETHER = 4,          /* halves that a kernel may read at once: a slice begins at a multiple of so many */
    PIECE = 1 << 18        /* elements that are rounded at a time: their halves stay in the caches */
};

/* One tensor of a call beside what the kernel sees of it. */
typedef struct {
    gr_tensor *t, seen;
    bool samples, read, written; /* cut by samples; read, written by this pass */
    bool rounded;                /* a real tensor that the operation sees as halves */
    gr_block block;              /* of the floats that stand for halves */
    void *floats;
} side;

typedef struct {
    gr_context *ctx;
    const gr_op *op;
    gr_pass pass;
    gr_call call; /* as the kernel sees it */
    int n;
    side sides[2 * (GR_MAX_IN + GR_MAX_OUT)];
    unsigned whole; /* bit i: in[i] is not cut by samples, its gradient is a sum over the slices */
    int64_t samples, slice;
} widened;

/* y = x, real both, each element rounded to the half type. */
static bool round_real(gr_context *ctx, const gr_tensor *x, const gr_tensor *y)
{
    gr_tensor from = *x, to = *y, half = {.ctx = ctx, .type = ctx->compute};
    gr_block block;
    if (!gr__step_alloc(ctx, PIECE * gr_type_size(half.type), &block, &half.data))
        return false;
    bool good = true;
    for (int64_t left = x->count; good && left > 0; left -= PIECE) {
        from.count = to.count = half.count = left < PIECE ? left : PIECE;
        good = gr__cast(ctx, &from, &half) && gr__cast(ctx, &half, &to);
        from.data = from.data ? (char *)from.data + PIECE * gr_type_size(from.type) : NULL;
        to.data = to.data ? (char *)to.data + PIECE * gr_type_size(to.type) : NULL;
    }
    gr__step_free(ctx, &block);
    return good;
}

/* Puts a stand-in for *slot where the kernel will look. */
static side *add_side(widened *w, gr_tensor **slot, bool samples, bool read, bool written)
{
    if (!*slot)
        return NULL;
    side *s = &w->sides[w->n++];
    *s = (side){.t = *slot, .seen = **slot, .samples = samples, .read = read, .written = written};
    *slot = &s->seen;
    if (samples)
        w->samples = s->t->shape[0];
    return s;
}

static void collect(widened *w)
{
    gr_call *c = &w->call;
    const bool forward = w->pass == GR_FORWARD;
    for (int i = 0; i < w->op->n_in; i++) {
        const bool samples = w->op->in[i].flags & GR_SLOT_SAMPLES;
        side *s = add_side(w, &c->in[i], samples, true, false);
        if (s)
            s->rounded = w->op->in[i].type == GR_SLOT_HALF && !gr__is_half(s->t);
        add_side(w, &c->d_in[i], samples, c->accumulate >> i & 1, true);
        w->whole |= samples ? 0 : 1u << i;
    }
    for (int i = 0; i < w->op->n_out; i++) {
        const bool samples = w->op->out[i].flags & GR_SLOT_SAMPLES;
        add_side(w, &c->out[i], samples, !forward, forward);
        add_side(w, &c->d_out[i], samples, true, false);
    }
}

/* Samples in a slice: as many as SLICE_BYTES of floats hold, and whole steps of them. */
static int64_t slice_of(const widened *w)
{
    int64_t bytes = 0, step = 1;
    for (int i = 0; i < w->n; i++) {
        const gr_tensor *t = w->sides[i].t;
        if (!w->sides[i].samples || !gr__is_half(t))
            continue;
        bytes += t->count / w->samples * (int64_t)sizeof(float);
        step = t->count / w->samples % TOGETHER ? TOGETHER : step;
    }
    const int64_t fit = bytes > 0 ? SLICE_BYTES / bytes / step * step : w->samples;
    const int64_t slice = fit > step ? fit : step;
    return slice < w->samples ? slice : w->samples;
}

static int64_t rows_at(const widened *w, const side *s, int64_t first)
{
    const int64_t left = w->samples - first;
    return !s->samples ? s->t->shape[0] : left < w->slice ? left : w->slice;
}

/* The part of a side's tensor that a slice is about. */
static gr_tensor part(const widened *w, const side *s, int64_t first)
{
    gr_tensor t = *s->t;
    if (!s->samples)
        return t;
    const int64_t per_sample = t.count / t.shape[0];
    t.shape[0] = rows_at(w, s, first);
    t.count = per_sample * t.shape[0];
    if (t.data)
        t.data = (char *)t.data + (size_t)(first * per_sample) * gr_type_size(t.type);
    return t;
}

static bool alloc_floats(widened *w)
{
    for (int i = 0; i < w->n; i++) {
        side *s = &w->sides[i];
        const int64_t count = s->samples ? s->t->count / w->samples * w->slice : s->t->count;
        if ((gr__is_half(s->t) || s->rounded) &&
            !gr__step_alloc(w->ctx, (size_t)count * sizeof(float), &s->block, &s->floats))
            return false;
    }
    return true;
}

static void free_floats(widened *w)
{
    for (int i = 0; i < w->n; i++)
        if (w->sides[i].block.size)
            gr__step_free(w->ctx, &w->sides[i].block);
}

/* Sets up the slice that begins at sample first: widens what the kernel reads, unless an earlier slice has. */
static bool load_slice(widened *w, int64_t first)
{
    for (int i = 0; i < w->n; i++) {
        side *s = &w->sides[i];
        gr_tensor t = part(w, s, first);
        s->seen = t;
        if (!gr__is_half(s->t) && !s->rounded)
            continue;
        s->seen.type = w->ctx->device->real;
        s->seen.data = s->floats;
        const bool due = s->read && (s->samples || first == 0);
        if (due && !(s->rounded ? round_real(w->ctx, &t, &s->seen) : gr__cast(w->ctx, &t, &s->seen)))
            return false;
    }
    return true;
}

/* Rounds what the kernel has written; what is a sum over the slices after the last one. */
static bool store_slice(widened *w, int64_t first)
{
    const bool last = first + w->slice >= w->samples;
    for (int i = 0; i < w->n; i++) {
        side *s = &w->sides[i];
        gr_tensor t = part(w, s, first);
        if (gr__is_half(s->t) && s->written && (s->samples || last) && !gr__cast(w->ctx, &s->seen, &t))
            return false;
    }
    return true;
}

/* A kernel for floats knows no copy in halves of what it changes: a cast will follow. */
static void leave_copy(widened *w)
{
    for (int i = 0; i < w->op->n_in; i++)
        if (w->op->in[i].flags & GR_SLOT_CHANGED)
            gr__half_invalidate(w->call.in[i]);
    w->call.copy = NULL;
}

bool gr__run_widened(gr_context *ctx, const gr_op *op, const gr_call *call, gr_pass pass)
{
    widened w = {.ctx = ctx, .op = op, .pass = pass, .call = *call, .samples = 1};
    if (call->copy)
        leave_copy(&w);
    collect(&w);
    w.slice = slice_of(&w);
    bool good = alloc_floats(&w);
    for (int64_t first = 0; good && first < w.samples; first += w.slice) {
        good = load_slice(&w, first) && gr__run_plain(ctx, op, &w.call, pass) && store_slice(&w, first);
        w.call.accumulate |= w.whole;
    }
    free_floats(&w);
    return good;
}
