/* truth.c - the oracle and its error bounds. */
#include "tests/table/truth.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/ops/notation.h"
#include "tests/table/batch_norm_bound.h"
#include "tests/table/report.h"

/* How the magnitude of a pass's results is found, and c, forward and backward: as ops.def says. */
typedef enum { TERMS, ITSELF, LOGITS, CHANNELS, SUMS } magnitude_kind;

static const struct {
    magnitude_kind kind;
    double c;
} rules[GR_OP_COUNT][2] = {
#define GR_OP(name, kind, inputs, outputs, formula, args, words, calling, flops, error, ...) \
    [GR_OP_##name] = GR_BRACES error,
#include "kernels/ops/ops.def"
};

static double window_size(const int size[2])
{
    return size[0] * size[1];
}

/* K of each result. */
static double terms(const row *r, const row_call *s, int buffer)
{
    const int64_t *x = s->in[0].shape, *w = s->in[1].shape, *y = s->out[0].shape;
    bool out = buffer == trial_out(0), dx = buffer == trial_d_in(0);
    switch (r->op->id) {
    case GR_OP_conv2d:
    case GR_OP_conv2d_relu_max_pool:
        return out  ? (double)(w[1] * w[2] * w[3] + 1)
               : dx ? (double)(w[0] * w[1] * w[2])
                    : (double)(y[0] * y[1] * y[2]);
    case GR_OP_max_pool2d:
        return window_size(((const gr_max_pool2d_args *)r->args)->size);
    case GR_OP_avg_pool2d:
        return window_size(((const gr_avg_pool2d_args *)r->args)->size);
    case GR_OP_dense:
        return out ? (double)(w[0] + 1) : dx ? (double)w[1] : (double)x[0];
    case GR_OP_l2_penalty:
        return out ? (double)s->in[0].count : 1;
    case GR_OP_sum:
    case GR_OP_mean:
    case GR_OP_global_norm:
        return (double)s->in[0].count;
    case GR_OP_global_avg_pool:
        return out ? (double)(x[1] * x[2]) : 1;
    case GR_OP_batch_norm:
        return (double)s->in[0].count / (double)s->in[1].count;
    case GR_OP_dense_sgd:
    case GR_OP_dense_adam:
        return out ? (double)s->in[2].shape[1] : (double)x[0] + 1;
    case GR_OP_softmax_cross_entropy:
    case GR_OP_sigmoid_bce:
    case GR_OP_accuracy:
    case GR_OP_confusion:
        return out ? (double)x[0] : 1;
    default:
        return 1;
    }
}

bool truth_multiplies(const gr_op *op)
{
    return op->id == GR_OP_conv2d || op->id == GR_OP_conv2d_relu_max_pool || op->id == GR_OP_dense ||
           op->id == GR_OP_dense_sgd || op->id == GR_OP_dense_adam;
}

/* Whether a result is: all but the gradients of biases, in[2] or, of fused updates, out[1]. */
static bool is_of_products(const row *r, int buffer)
{
    return truth_multiplies(r->op) && buffer != trial_d_in(2) && (r->op->kind == GR_DIFF || buffer != trial_out(1));
}

/*
 * Makes a trial's inputs and dY absolute; lr, means and the anchor change sign, so that p - lr (g + gamma (p - anchor))
 * becomes |p| + lr (|g| + gamma (|p| + |anchor|)).
 */
static void make_absolute(trial *a)
{
    for (int i = 0; i < TRIAL_SLOTS; i++) {
        bool given = i < GR_MAX_IN || i == TRIAL_D_OUT;
        for (int64_t j = 0; given && a->buffers[i].t.type == GR_F64 && j < trial_count(a, i); j++)
            trial_set(a, i, j, fabs(trial_get(a, i, j)));
    }
    a->state.lr = -a->state.lr;
    const int anchor = 2; /* of prox_step */
    for (int64_t j = 0; a->row->op->id == GR_OP_prox_step && j < trial_count(a, anchor); j++)
        trial_set(a, anchor, j, -trial_get(a, anchor, j));
    gr_normalise_args *args = (gr_normalise_args *)a->shapes.args; /* augment's begin with them */
    for (int c = 0; c < 4 && (a->row->op->id == GR_OP_normalise || a->row->op->id == GR_OP_augment); c++)
        args->mean[c] = -fabsf(args->mean[c]);
}

/* |weight| W (2 max|z| + 2 + log C) of sample n: what goes through a loss. */
static double logits(const truth *t, int64_t n)
{
    const trial *run = &t->run;
    int64_t N = run->shapes.in[0].shape[0], C = run->shapes.in[0].shape[1];
    double largest = 0;
    for (int64_t j = 0; j < C; j++)
        largest = fmax(largest, fabs(trial_get(run, 0, n * C + j)));
    double W = run->state.inv_weight > 0 ? run->state.inv_weight : 1 / (double)N;
    return (trial_count(run, 2) ? fabs(trial_get(run, 2, n)) : 1) * W * (2 * largest + 2 + log((double)C));
}

static double loss_magnitude(const truth *t, int buffer, int64_t i)
{
    const trial *run = &t->run;
    if (buffer == trial_d_in(0))
        return fabs(trial_get(run, TRIAL_D_OUT, 0)) * run->state.loss_scale * logits(t, i);
    double sum = 0;
    for (int64_t n = 0; n < run->shapes.in[0].shape[0]; n++)
        sum += logits(t, n);
    return sum;
}

/* An error of z becomes a factor exp(error) of the softmax. */
static double softmax_magnitude(const truth *t, int64_t i)
{
    return trial_get(&t->run, trial_out(1), i) * (2 + 2 * t->run.row->scale);
}

static double magnitude(const truth *t, const trial *absolute, int buffer, magnitude_kind kind, int64_t i)
{
    if (kind == TERMS)
        return fabs(trial_get(absolute, buffer, i));
    if (kind == SUMS)
        return fabs(trial_get(absolute, buffer, i - i % 2));
    if (kind == ITSELF)
        return fabs(trial_get(&t->run, buffer, i));
    return buffer == trial_out(1) ? softmax_magnitude(t, i) : loss_magnitude(t, buffer, i);
}

/* Magnitude and slack of one result, from the runs that have just been made. */
static void set_bounds(truth *t, const trial *absolute, int buffer, magnitude_kind kind, double c)
{
    int64_t count = trial_count(&t->run, buffer);
    bool real = t->run.buffers[buffer].t.type == GR_F64;
    t->terms[buffer] = terms(t->run.row, &t->run.shapes, buffer);
    t->slack[buffer] = real ? c * sqrt(t->terms[buffer]) : 0;
    t->products[buffer] = real && is_of_products(t->run.row, buffer) ? c : 0;
    t->magnitude[buffer] = calloc((size_t)count + 1, sizeof **t->magnitude);
    if (kind == CHANNELS)
        batch_norm_magnitudes(&t->run, buffer, t->magnitude[buffer]);
    for (int64_t i = 0; kind != CHANNELS && i < count; i++)
        t->magnitude[buffer][i] = magnitude(t, absolute, buffer, kind, i);
}

/* Results of a pass: outputs and slots changed in place, or gradients. */
static void set_all_bounds(truth *t, const trial *absolute, gr_pass pass)
{
    const gr_op *op = t->run.row->op;
    const magnitude_kind kind = rules[op->id][pass].kind;
    const double c = rules[op->id][pass].c;
    for (int i = 0; pass == GR_FORWARD && i < t->run.call.n_out; i++)
        if (trial_count(&t->run, trial_out(i)))
            set_bounds(t, absolute, trial_out(i), kind, c);
    for (int i = 0; i < op->n_in; i++) {
        if (pass == GR_FORWARD && (op->in[i].flags & GR_SLOT_CHANGED) && trial_count(&t->run, trial_in(i)))
            set_bounds(t, absolute, trial_in(i), kind, c);
        if (pass == GR_BACKWARD && trial_count(&t->run, trial_d_in(i)))
            set_bounds(t, absolute, trial_d_in(i), kind, c);
    }
}

/* dense_adam: absolute terms make v too large, which understates m / sqrt(v). Rescales w's update to the true v. */
static void rescale_dense_adam(truth *t, const trial *absolute)
{
    enum { W = 2, V = 5 };
    const gr_adam_args *args = (const gr_adam_args *)t->run.shapes.args;
    const double *w = (const double *)(const void *)absolute->buffers[W].before;
    for (int64_t i = 0; i < trial_count(&t->run, W); i++) {
        double ratio = (sqrt(t->magnitude[V][i]) + args->epsilon) / (sqrt(trial_get(&t->run, V, i)) + args->epsilon);
        t->magnitude[W][i] = w[i] + (t->magnitude[W][i] - w[i]) * ratio;
    }
}

/* A pass of the oracle on the row and on its absolute values. */
static void run_both(truth *t, trial *absolute, gr_pass pass)
{
    const gr_kernel *kernel = &gr__ref_f64_kernels[t->run.row->op->id];
    const char *misdeed = trial_run(&t->run, kernel, pass, NULL);
    if (misdeed)
        report_failure(t->run.row, "ref-f64", "the %s pass %s", pass == GR_FORWARD ? "forward" : "backward", misdeed);
    trial_run(absolute, kernel, pass, NULL);
    set_all_bounds(t, absolute, pass);
}

static void run_rounded(truth *t, const row_call *shapes)
{
    trial_open(&t->rounded, t->run.row, shapes, GR_F64);
    for (int out = trial_out(0); out < trial_out(GR_MAX_OUT); out++)
        for (int64_t i = 0; i < trial_count(&t->run, out); i++)
            trial_set(&t->rounded, out, i, (double)(float)trial_get(&t->run, out, i));
    trial_run(&t->rounded, &gr__ref_f64_kernels[t->run.row->op->id], GR_BACKWARD, NULL);
}

void truth_open(truth *t, const row *r, const row_call *shapes)
{
    *t = (truth){0};
    trial absolute;
    trial_open(&t->run, r, shapes, GR_F64);
    trial_open(&absolute, r, shapes, GR_F64);
    make_absolute(&absolute);
    run_both(t, &absolute, GR_FORWARD);
    if (r->op->id == GR_OP_dense_adam)
        rescale_dense_adam(t, &absolute);
    if (r->op->kind == GR_DIFF) {
        for (int i = 0; i < GR_MAX_OUT; i++) /* masks, winners and probabilities are the true ones */
            trial_copy(&absolute, &t->run, trial_out(i));
        run_both(t, &absolute, GR_BACKWARD);
        run_rounded(t, shapes);
    }
    trial_close(&absolute);
}

/* Where truth_with_nan puts it. */
static int64_t nan_place(const truth *t, int buffer)
{
    const row *r = t->run.row;
    bool update = buffer >= 0 && buffer == row_slot(r->op, "dy");
    int mask = buffer == TRIAL_D_OUT ? trial_out(0) : update ? trial_in(row_slot(r->op, "y")) : buffer;
    for (int64_t i = 0; mask != buffer && i < trial_count(&t->run, mask); i++)
        if (trial_get(&t->run, mask, i) > 0)
            return i;
    return 0;
}

int truth_masked(const row *r, gr_pass pass, int buffer)
{
    const bool relu = r->op->id == GR_OP_relu || row_has(r, "relu");
    if (pass == GR_BACKWARD)
        return relu && buffer == trial_out(0) ? TRIAL_D_OUT : -1;
    return buffer >= 0 && buffer == row_slot(r->op, "y") ? trial_in(row_slot(r->op, "dy")) : -1;
}

const trial *truth_with_nan(truth *t, gr_pass pass, int buffer, int64_t *place)
{
    trial **run = &t->with_nan[pass][buffer];
    const int masked = truth_masked(t->run.row, pass, buffer);
    *place = nan_place(t, masked >= 0 ? masked : buffer);
    if (*run)
        return *run;
    *run = calloc(1, sizeof **run);
    trial_open(*run, t->run.row, &t->run.shapes, GR_F64);
    for (int i = 0; pass == GR_BACKWARD && i < GR_MAX_OUT; i++)
        trial_copy(*run, &t->run, trial_out(i));
    trial_set(*run, buffer, *place, (double)NAN);
    if (masked >= 0)
        trial_set(*run, masked, *place, (double)NAN);
    trial_run(*run, &gr__ref_f64_kernels[t->run.row->op->id], pass, NULL);
    return *run;
}

void truth_close(truth *t)
{
    trial_close(&t->run);
    trial_close(&t->rounded);
    for (int i = 0; i < TRIAL_SLOTS; i++) {
        free(t->magnitude[i]);
        for (int pass = 0; pass < 2; pass++)
            if (t->with_nan[pass][i]) {
                trial_close(t->with_nan[pass][i]);
                free(t->with_nan[pass][i]);
            }
    }
}

const char *truth_name(const row *r, int buffer)
{
    static char name[32];
    const bool output = buffer >= trial_out(0) && buffer < trial_d_in(0);
    const gr_slot *slot =
        output ? &r->op->out[buffer - trial_out(0)] : &r->op->in[buffer < GR_MAX_IN ? buffer : buffer - trial_d_in(0)];
    snprintf(name, sizeof name, buffer >= trial_d_in(0) ? "d%s" : "%s", slot->name ? slot->name : "y");
    return name;
}

/*
 * Tensor cores add L products to the sum so far: each of these loses less than 2^-F of the largest, then the result
 * less than 2^-23 of itself (kernels/simt/tensor_core.c). None is larger than the magnitude, so K products lose at most
 * K / L, rounded up, times (L + 1) 2^-F + 2^-23 of it; the most is lost by tf32 on sm_80, where L = 4, F = 24.
 */
double truth_cut(const truth *t, int buffer, int64_t i)
{
    const double at_once = 4, lost = (at_once + 1) * 0x1p-24 + 0x1p-23;
    if (t->products[buffer] == 0)
        return 0;
    return t->products[buffer] * ceil(t->terms[buffer] / at_once) * lost * t->magnitude[buffer][i];
}

/* Each weight by half a unit of its last place at most. */
double truth_rounded(const truth *t, const gr_kernel *kernel, gr_type half, int buffer, int64_t i)
{
    if (t->run.row->op->kind != GR_UPDATE || !kernel->rounds || buffer != trial_out(0))
        return 0;
    return t->magnitude[buffer][i] * (half == GR_F16 ? 0x1p-11 : 0x1p-8);
}

/* How far element i of a buffer may lie from want; what stood there before was added to. */
static double bound(const truth *t, int buffer, int64_t i, const double *before, exactness of)
{
    double m = (of.magnitude ? of.magnitude : t->magnitude[buffer])[i],
           underflow = of.eps > DBL_EPSILON ? (double)FLT_MIN : 0;
    double addition = before ? m + fabs(before[i]) : 0;
    double rounding = t->products[buffer] * (of.factors * (2 + of.factors) + of.left_out) * m;
    rounding += of.cut ? truth_cut(t, buffer, i) : 0;
    return of.times * (of.eps * (t->slack[buffer] * m + addition) + rounding + (t->slack[buffer] > 0 ? underflow : 0));
}

/* What element i should be at eps. */
static double wanted_at(const truth *t, int buffer, int64_t i, const double *before, double eps)
{
    bool single = eps > DBL_EPSILON, gradient = buffer >= trial_d_in(0);
    double want = trial_get(single && gradient ? &t->rounded : &t->run, buffer, i);
    if (before)
        return want + before[i];
    return single && t->slack[buffer] == 0 ? (double)(float)want : want;
}

bool truth_compare(const truth *t, int buffer, const double *got, const double *before, exactness of,
                   const char *device, const char *check)
{
    int64_t worst = -1, wrong = 0, count = trial_count(&t->run, buffer);
    double most = 0, wanted = 0;
    for (int64_t i = 0; i < count; i++) {
        double want = wanted_at(t, buffer, i, before, of.eps);
        double error = fabs(got[i] - want), allowed = bound(t, buffer, i, before, of);
        if (error <= allowed || got[i] == want) /* both infinite, too */
            continue;
        wrong++;
        if (worst >= 0 && error / allowed <= most)
            continue;
        worst = i;
        most = error / allowed;
        wanted = want;
    }
    if (wrong)
        report_failure(t->run.row, device,
                       "%s: %s: %lld of %lld wrong; [%lld] is %.9g, wanted %.9g (%.3g times the bound)", check,
                       truth_name(t->run.row, buffer), (long long)wrong, (long long)count, (long long)worst, got[worst],
                       wanted, most);
    return !wrong;
}
