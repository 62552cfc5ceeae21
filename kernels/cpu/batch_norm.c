/*
 * batch_norm.c - batch normalisation of x[n,C], n all dimensions but the last; formulas as in kernels/ref/batch_norm.c.
 *
 * x is cut into chunks of whole rows that stay in the second-level cache. Forward reads it twice: once for mean and
 * variance, which each chunk finds in two passes of its own and which are then put together in the chunks' order (Chan,
 * Golub and LeVeque 1983, equation 2.1), and once to normalise. Backward likewise: two sums, then dX.
 */
#include "kernels/cpu/cpu.h"

enum { CHUNK = 16384 /* elements */, CHUNKS = 256 /* at most: they are put together by one thread */ };

typedef struct {
    int64_t n, C, rows, chunks; /* rows of a chunk */
    bool given, relu, accumulate_x, accumulate_residual;
    const float *x, *residual, *dy; /* [n,C] */
    const float *y_gate;            /* [n,C]: y where ReLU gates the gradient, else NULL */
    float *y, *dx, *dresidual;      /* [n,C] */
    float *partial;                 /* [chunks][2][C]: mean and squared deviations, or sums of dz and dz (x - mean) */
    float *mean, *scale, *shift;    /* [C]: y = (x - mean) scale + shift; dX = scale (dz - shift - (x - mean) slope) */
    float *slope;                   /* [C] */
} plan;

static plan plan_of(const gr_call *call, gr_pass pass, scratch *s)
{
    const gr_batch_norm_args *args = call->options;
    const gr_tensor *x = call->in[0];
    plan f = {.C = x->shape[x->ndim - 1], .given = call->in[4] != NULL, .relu = args->relu};
    f.n = x->count / f.C;
    f.rows = max64(max64(1, CHUNK / f.C), ceil_div(f.n, CHUNKS));
    f.chunks = ceil_div(f.n, f.rows);
    f.partial = scratch_take(s, f.given && pass == GR_FORWARD ? 0 : f.chunks * 2 * f.C);
    f.mean = scratch_take(s, f.C);
    f.scale = scratch_take(s, f.C);
    f.shift = scratch_take(s, f.C);
    f.slope = scratch_take(s, pass == GR_FORWARD ? 0 : f.C);
    f.x = gr__f32(x);
    return f;
}

size_t GR_CPU(batch_norm_scratch)(const gr_call *call, gr_pass pass)
{
    scratch s = {0};
    plan_of(call, pass, &s);
    return s.used;
}

INLINE span rows_of(const plan *f, int64_t chunk)
{
    return (span){chunk * f->rows, min64(f->n, (chunk + 1) * f->rows)};
}

/* --- forward ------------------------------------------------------------------------------------------------------ */

/*
 * Mean and sum of squared deviations of a chunk, channels [c, c + width). What is summed is the distance from the first
 * row: the sum of thousands of values far from 0 would round by more than they differ.
 */
INLINE void chunk_statistics(const plan *f, span rows, int64_t c, int64_t width, float *mean, float *squares)
{
    const vec first = vec_load_n(f->x + rows.begin * f->C + c, width);
    vec sum = {0}, square = {0};
    for (int64_t i = rows.begin; i < rows.end; i++)
        sum += vec_load_n(f->x + i * f->C + c, width) - first;
    const vec m = first + sum / (float)(rows.end - rows.begin);
    for (int64_t i = rows.begin; i < rows.end; i++) {
        const vec d = vec_load_n(f->x + i * f->C + c, width) - m;
        square += d * d;
    }
    vec_store_n(mean + c, m, width);
    vec_store_n(squares + c, square, width);
}

static void statistics_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    float *mean = f->partial + chunk * 2 * f->C, *squares = mean + f->C;
    const span rows = rows_of(f, chunk);
    int64_t c = 0;
    for (; c + VL <= f->C; c += VL)
        chunk_statistics(f, rows, c, VL, mean, squares);
    if (c < f->C)
        chunk_statistics(f, rows, c, f->C - c, mean, squares);
}

/* The batch's mean and variance of channel c from those of the chunks. */
static void put_together(const plan *f, int64_t c, double *mean, double *var)
{
    double count = 0, m = 0, squares = 0;
    for (int64_t i = 0; i < f->chunks; i++) {
        const float *part = f->partial + i * 2 * f->C + c;
        const span rows = rows_of(f, i);
        const double n = (double)(rows.end - rows.begin), delta = (double)part[0] - m;
        count += n;
        m += delta * n / count;
        squares += (double)part[f->C] + delta * delta * n * (count - n) / count;
    }
    *mean = m;
    *var = squares / count;
}

/* One row, channels [c, c + width): (x - mean) scale + shift, + residual, then max(0,.) if asked. */
INLINE void normalise(const plan *f, int64_t at, int64_t c, int64_t width)
{
    const vec m = vec_load_n(f->mean + c, width), scale = vec_load_n(f->scale + c, width);
    vec z = (vec_load_n(f->x + at, width) - m) * scale + vec_load_n(f->shift + c, width);
    if (f->residual)
        z += vec_load_n(f->residual + at, width);
    vec_store_n(f->y + at, f->relu ? vec_relu(z) : z, width);
}

static void normalise_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    const span rows = rows_of(f, chunk);
    for (int64_t i = rows.begin; i < rows.end; i++) {
        int64_t c = 0;
        for (; c + VL <= f->C; c += VL)
            normalise(f, i * f->C + c, c, VL);
        if (c < f->C)
            normalise(f, i * f->C + c, c, f->C - c);
    }
}

/* Statistics, kept where they are wanted, and what normalise needs of them. */
static void prepare_forward(const gr_call *call, const plan *f)
{
    const gr_batch_norm_args *args = call->options;
    const float *gamma = gr__f32(call->in[1]), *beta = gr__f32(call->in[2]); /* [C] */
    float *kept_mean = gr__f32(call->out[1]), *kept_var = gr__f32(call->out[2]);
    for (int64_t c = 0; c < f->C; c++) {
        double mean, var;
        if (f->given) {
            mean = (double)gr__f32(call->in[4])[c];
            var = (double)gr__f32(call->in[5])[c];
        } else {
            put_together(f, c, &mean, &var);
        }
        if (kept_mean)
            kept_mean[c] = (float)mean;
        if (kept_var)
            kept_var[c] = (float)var;
        f->mean[c] = (float)mean;
        f->scale[c] = (float)((double)gamma[c] / sqrt(var + args->epsilon));
        f->shift[c] = beta[c];
    }
}

void GR_CPU(batch_norm_forward)(const gr_call *call)
{
    plan f = plan_of(call, GR_FORWARD, &(scratch){.base = call->exec->scratch});
    f.residual = gr__f32(call->in[3]);
    f.y = gr__f32(call->out[0]);
    if (!f.given)
        gr_parallel_for(call->exec, f.chunks, statistics_chunk, &f);
    prepare_forward(call, &f);
    gr_parallel_for(call->exec, f.chunks, normalise_chunk, &f);
}

/* --- backward ----------------------------------------------------------------------------------------------------- */

INLINE vec upstream(const plan *f, int64_t at, int64_t width)
{
    const vec dy = vec_load_n(f->dy + at, width);
    return f->y_gate ? vec_gate(vec_load_n(f->y_gate + at, width), dy) : dy;
}

INLINE void chunk_sums(const plan *f, span rows, int64_t c, int64_t width, float *partial)
{
    const vec m = vec_load_n(f->mean + c, width);
    vec sum = {0}, product = {0};
    for (int64_t at = rows.begin * f->C + c; at < rows.end * f->C; at += f->C) {
        const vec dz = upstream(f, at, width);
        sum += dz;
        product += dz * (vec_load_n(f->x + at, width) - m);
    }
    vec_store_n(partial + c, sum, width);
    vec_store_n(partial + f->C + c, product, width);
}

static void sums_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    float *partial = f->partial + chunk * 2 * f->C;
    int64_t c = 0;
    for (; c + VL <= f->C; c += VL)
        chunk_sums(f, rows_of(f, chunk), c, VL, partial);
    if (c < f->C)
        chunk_sums(f, rows_of(f, chunk), c, f->C - c, partial);
}

static void write(const gr_call *call, int slot, int64_t c, double v)
{
    float *d = gr__f32(call->d_in[slot]); /* [C] or NULL */
    if (d)
        d[c] = (float)(call->accumulate >> slot & 1 ? (double)d[c] + v : v);
}

/* dgamma and dbeta from the chunks' sums, and what dX needs of them. */
static void prepare_dx(const gr_call *call, const plan *f)
{
    const gr_batch_norm_args *args = call->options;
    const float *gamma = gr__f32(call->in[1]), *var = gr__f32(f->given ? call->in[5] : call->out[2]); /* [C] */
    for (int64_t c = 0; c < f->C; c++) {
        const double s = 1 / sqrt((double)var[c] + args->epsilon);
        double sum = 0, product = 0;
        for (int64_t i = 0; i < f->chunks; i++) {
            sum += (double)f->partial[i * 2 * f->C + c];
            product += (double)f->partial[(i * 2 + 1) * f->C + c];
        }
        write(call, 1, c, product * s);
        write(call, 2, c, sum);
        f->scale[c] = (float)((double)gamma[c] * s);
        f->shift[c] = f->given ? 0 : (float)(sum / (double)f->n);
        f->slope[c] = f->given ? 0 : (float)(product * s * s / (double)f->n);
    }
}

INLINE void give(float *d, vec v, int64_t at, int64_t width, bool accumulate)
{
    vec_store_n(d + at, accumulate ? vec_load_n(d + at, width) + v : v, width);
}

INLINE void gradients(const plan *f, int64_t at, int64_t c, int64_t width)
{
    const vec dz = upstream(f, at, width);
    if (f->dresidual)
        give(f->dresidual, dz, at, width, f->accumulate_residual);
    if (!f->dx)
        return;
    vec d = dz;
    if (!f->given)
        d -= vec_load_n(f->shift + c, width) +
             (vec_load_n(f->x + at, width) - vec_load_n(f->mean + c, width)) * vec_load_n(f->slope + c, width);
    give(f->dx, d * vec_load_n(f->scale + c, width), at, width, f->accumulate_x);
}

static void gradients_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    const span rows = rows_of(f, chunk);
    for (int64_t i = rows.begin; i < rows.end; i++) {
        int64_t c = 0;
        for (; c + VL <= f->C; c += VL)
            gradients(f, i * f->C + c, c, VL);
        if (c < f->C)
            gradients(f, i * f->C + c, c, f->C - c);
    }
}

void GR_CPU(batch_norm_backward)(const gr_call *call)
{
    plan f = plan_of(call, GR_BACKWARD, &(scratch){.base = call->exec->scratch});
    f.dy = gr__f32(call->d_out[0]);
    f.y_gate = f.relu ? gr__f32(call->out[0]) : NULL;
    f.dx = gr__f32(call->d_in[0]);
    f.dresidual = gr__f32(call->d_in[3]);
    f.accumulate_x = call->accumulate & 1;
    f.accumulate_residual = call->accumulate >> 3 & 1;
    memcpy(f.mean, gr__f32(f.given ? call->in[4] : call->out[1]), (size_t)f.C * sizeof *f.mean);
    gr_parallel_for(call->exec, f.chunks, sums_chunk, &f);
    prepare_dx(call, &f);
    if (f.dx || f.dresidual)
        gr_parallel_for(call->exec, f.chunks, gradients_chunk, &f);
}
