/*
 * whiten.c - first filters that whiten the patches of training pictures: the principal axes of their second moments,
 * each divided by the root of what the patches have along it, and their negatives (Page, "How to train your ResNet",
 * part 8; Jordan 2024, arXiv:2404.00498, section 3.1).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/tensor.h"
#include "core/zero.h"
#include "nn/module.h"
#include "optim/optim.h"

enum { SAMPLES = 5000, BATCH = 100, SWEEPS = 50 };

/* Patches of R x S x C numbers, one after the other in that order, as filters KRSC have theirs. */
typedef struct {
    gr_context *ctx;
    gr_tensor *filters; /* [2d,R,S,C] */
    int64_t R, S, C, d; /* d = R S C */
    double *moments;    /* [d,d]: sums, then means of v v^T over all patches v */
    double *axes;       /* [d,d]: row i is an axis of unit length */
} whitening;

/* --- second moments ----------------------------------------------------------------------------------------------- */

static void add_patch(whitening *w, const double *v)
{
    for (int64_t i = 0; i < w->d; i++)
        for (int64_t j = 0; j <= i; j++)
            w->moments[i * w->d + j] += v[i] * v[j];
}

/* Every place of the window in a picture [H,W,C]; returns how many there are. */
static int64_t add_picture(whitening *w, const double *x, int64_t H, int64_t W, double *patch)
{
    for (int64_t p = 0; p + w->R <= H; p++)
        for (int64_t q = 0; q + w->S <= W; q++) {
            for (int64_t r = 0; r < w->R; r++)
                memcpy(patch + r * w->S * w->C, x + ((p + r) * W + q) * w->C, (size_t)(w->S * w->C) * sizeof *x);
            add_patch(w, patch);
        }
    return (H - w->R + 1) * (W - w->S + 1);
}

/* The numbers of a batch, halves too, in double. NULL: recorded. */
static double *numbers_of(gr_tensor *x)
{
    if (gr__is_half(x) && !(x = gr_cast(x, gr_real(x->ctx))))
        return NULL;
    double *values = gr__calloc(x->ctx, (size_t)x->count, sizeof *values);
    void *raw = gr__calloc(x->ctx, (size_t)x->count, gr_type_size(x->type));
    const bool good = values && raw && gr_download(x, raw);
    for (int64_t i = 0; good && i < x->count; i++)
        values[i] = x->type == GR_F64 ? ((double *)raw)[i] : (double)((float *)raw)[i];
    free(raw);
    if (good)
        return values;
    free(values);
    return NULL;
}

/* Returns how many patches the batch has; 0: recorded. */
static int64_t add_batch(whitening *w, gr_tensor *x, double *patch)
{
    const int64_t N = gr_dim(x, 0), H = gr_dim(x, 1), W = gr_dim(x, 2);
    double *values = numbers_of(x);
    int64_t patches = 0;
    for (int64_t n = 0; values && n < N; n++)
        patches += add_picture(w, values + n * H * W * w->C, H, W, patch);
    free(values);
    return patches;
}

/* Means over the set's first samples. False: recorded. */
static bool measure(whitening *w, gr_dataset *set, int64_t samples)
{
    const int64_t n = samples < gr_dataset_size(set) ? samples : gr_dataset_size(set);
    double *patch = gr__calloc(w->ctx, (size_t)w->d, sizeof *patch);
    gr_loader *loader = gr_loader_open(
        set, &(gr_loader_options){.batch = n < BATCH ? n : BATCH, .order = GR_IN_ORDER, .workers = GR_NO_WORKERS});
    gr_batch batch;
    int64_t patches = 0;
    for (int64_t at = 0; patch && at < n && gr_loader_next(loader, &batch); at += batch.samples) {
        patches += add_batch(w, batch.x, patch);
        gr_step_end(w->ctx);
    }
    for (int64_t i = 0; patches > 0 && i < w->d; i++)
        for (int64_t j = 0; j <= i; j++)
            w->moments[j * w->d + i] = w->moments[i * w->d + j] /= (double)patches;
    gr_loader_close(loader);
    free(patch);
    return gr_ok(w->ctx);
}

/* --- principal axes: Jacobi's method (Golub and Van Loan, section 8.5) -------------------------------------------- */

/* Turns the plane of coordinates i and j so that moments[i,j] becomes 0. */
static void rotate(whitening *w, int64_t i, int64_t j)
{
    const int64_t d = w->d;
    double *m = w->moments, *a = w->axes;
    const double tau = (m[j * d + j] - m[i * d + i]) / (2 * m[i * d + j]);
    const double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau)), c = 1 / sqrt(1 + t * t), s = t * c;
    for (int64_t k = 0; k < d; k++) { /* columns */
        const double x = m[k * d + i], y = m[k * d + j];
        m[k * d + i] = c * x - s * y;
        m[k * d + j] = s * x + c * y;
    }
    for (int64_t k = 0; k < d; k++) { /* rows, and those of the axes */
        const double x = m[i * d + k], y = m[j * d + k], u = a[i * d + k], v = a[j * d + k];
        m[i * d + k] = c * x - s * y;
        m[j * d + k] = s * x + c * y;
        a[i * d + k] = c * u - s * v;
        a[j * d + k] = s * u + c * v;
    }
}

/* Leaves what the patches have along axis i at moments[i,i]. */
static void find_axes(whitening *w)
{
    const int64_t d = w->d;
    double trace = 0;
    for (int64_t i = 0; i < d; i++) {
        w->axes[i * d + i] = 1;
        trace += w->moments[i * d + i];
    }
    for (int sweep = 0, turned = 1; turned && sweep < SWEEPS; sweep++) {
        turned = 0;
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = i + 1; j < d; j++)
                if (fabs(w->moments[i * d + j]) > 1e-16 * trace) {
                    rotate(w, i, j);
                    turned = 1;
                }
    }
}

/* --- filters ------------------------------------------------------------------------------------------------------ */

/* The axis with the most along it among those that are not taken, which it is from now on. */
static int64_t take_largest(whitening *w, bool *taken)
{
    int64_t best = -1;
    for (int64_t i = 0; i < w->d; i++)
        if (!taken[i] && (best < 0 || w->moments[i * w->d + i] > w->moments[best * w->d + best]))
            best = i;
    taken[best] = true;
    return best;
}

/* An axis and its negative are the same: the first of the two filters has its largest number above 0. */
static double sign_of(const double *axis, int64_t d)
{
    int64_t largest = 0;
    for (int64_t i = 1; i < d; i++)
        largest = fabs(axis[i]) > fabs(axis[largest]) ? i : largest;
    return axis[largest] < 0 ? -1 : 1;
}

static void put_number(gr_type type, void *values, int64_t i, double x)
{
    if (type == GR_F64)
        ((double *)values)[i] = x;
    else
        ((float *)values)[i] = (float)x;
}

/* Filters 0 .. d-1 by falling moments, then their negatives. False: recorded. */
static bool write_filters(whitening *w, double epsilon)
{
    const int64_t d = w->d;
    bool *taken = gr__calloc(w->ctx, (size_t)d, sizeof *taken);
    void *values = gr__calloc(w->ctx, (size_t)w->filters->count, gr_type_size(w->filters->type));
    for (int64_t k = 0; taken && values && k < d; k++) {
        const int64_t i = take_largest(w, taken);
        const double *axis = w->axes + i * d;
        const double factor = sign_of(axis, d) / sqrt(fmax(w->moments[i * d + i], 0) + epsilon);
        for (int64_t e = 0; e < d; e++) {
            put_number(w->filters->type, values, k * d + e, factor * axis[e]);
            put_number(w->filters->type, values, (d + k) * d + e, -factor * axis[e]);
        }
    }
    const bool good = taken && values && gr_upload(w->filters, values);
    free(taken);
    free(values);
    return good;
}

static gr_tensor *parameter_named(const gr_module *net, const char *name)
{
    for (int i = 0; i < gr_parameter_count(net); i++)
        if (strcmp(gr_parameter_name(net, i), name) == 0)
            return gr_parameter(net, i);
    return NULL;
}

/* Whether these are filters for the set's pictures, two for every axis. False: recorded. */
static bool fits(gr_context *ctx, const gr_tensor *f, const char *name, const gr_dataset *set)
{
    int64_t shape[3];
    gr_dataset_shape(set, shape);
    if (!f)
        return gr__fail(ctx, GR_USAGE, "gr_whiten: the model has no parameter \"%.95s\"; is it built?", name);
    if (f->ndim != 4 || f->shape[3] != shape[2] || f->shape[1] > shape[0] || f->shape[2] > shape[1])
        return gr__fail(ctx, GR_USAGE, "gr_whiten: %.95s are no filters for pictures of %lldx%lldx%lld", name,
                        (long long)shape[0], (long long)shape[1], (long long)shape[2]);
    const int64_t axes = f->shape[1] * f->shape[2] * f->shape[3];
    return f->shape[0] == 2 * axes ||
           gr__fail(ctx, GR_USAGE,
                    "gr_whiten: %.95s are %lld filters of %lldx%lldx%lld; there are %lld: two for each of %lld axes",
                    name, (long long)f->shape[0], (long long)f->shape[1], (long long)f->shape[2],
                    (long long)f->shape[3], (long long)(2 * axes), (long long)axes);
}

bool gr_whiten(gr_module *net, const char *name, gr_dataset *set, const gr_whiten_options *options)
{
    const gr_whiten_options o = options ? *options : (gr_whiten_options){0};
    if (!net || !name || !set || !gr_ok(net->ctx))
        return false;
    gr_context *ctx = net->ctx;
    gr_tensor *f = parameter_named(net, name);
    if (o.samples < 0 || !(o.epsilon >= 0 && isfinite(o.epsilon)))
        return gr__fail(ctx, GR_USAGE, "gr_whiten: %lld samples, epsilon %g; both are at least 0", (long long)o.samples,
                        o.epsilon);
    if (!fits(ctx, f, name, set) || ctx->options.plan_only)
        return gr_ok(ctx);
    whitening w = {.ctx = ctx, .filters = f, .R = f->shape[1], .S = f->shape[2], .C = f->shape[3]};
    w.d = w.R * w.S * w.C;
    w.moments = gr__calloc(ctx, (size_t)(w.d * w.d), sizeof *w.moments);
    w.axes = gr__calloc(ctx, (size_t)(w.d * w.d), sizeof *w.axes);
    bool good = w.moments && w.axes && measure(&w, set, o.samples > 0 ? o.samples : SAMPLES);
    if (good) {
        find_axes(&w);
        good = write_filters(&w, gr__or(o.epsilon, 5e-4));
    }
    free(w.moments);
    free(w.axes);
    return good;
}
