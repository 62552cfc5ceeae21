/*
 * batch_norm.c - batch normalisation of x[n,C], n all dimensions but the last; formulas as in kernels/ref/batch_norm.c.
 *
 * x is cut into chunks of whole rows that stay in the second-level cache. Forward reads it twice: once for mean and
 * variance, which each chunk finds in two passes of its own and which are then put together in the chunks' order (Chan,
 * Golub and LeVeque 1983, equation 2.1), and once to normalise. Backward likewise: two sums, then dX.
 */
#include "kernels/cpu/cpu.h"

enum { CHUNK = 16384 /* elements */, CHUNKS = 256 /* at most: they are put together by one thread */ };

/* Vectors of channels that are summed side by side: a sum alone waits for its last addition in every row. */
enum { ABREAST = 4 };

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
 * Mean and sum of squared deviations of a chunk, of so many vectors of channels from c on, each of width channels. What
 * is summed is the distance from the first row: the sum of thousands of values far from 0 would round by more than they
 * differ.
 */
INLINE void chunk_statistics(const plan *f, span rows, int64_t c, int vectors, int64_t width, float *partial)
{
    const float *begin = f->x + rows.begin * f->C + c, *end = f->x + rows.end * f->C;
    vec first[ABREAST], mean[ABREAST], sum[ABREAST] = {0}, square[ABREAST] = {0};
    UNROLL
    for (int v = 0; v < vectors; v++)
        first[v] = vec_load_n(begin + v * VL, width);
    for (const float *x = begin; x < end; x += f->C) {
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[v] += vec_load_n(x + v * VL, width) - first[v];
    }
    UNROLL
    for (int v = 0; v < vectors; v++)
        mean[v] = first[v] + sum[v] / (float)(rows.end - rows.begin);
    for (const float *x = begin; x < end; x += f->C) {
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const vec d = vec_load_n(x + v * VL, width) - mean[v];
            square[v] += d * d;
        }
    }
    UNROLL
    for (int v = 0; v < vectors; v++) {
        vec_store_n(partial + c + v * VL, mean[v], width);
        vec_store_n(partial + f->C + c + v * VL, square[v], width);
    }
}

static void statistics_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    float *partial = f->partial + chunk * 2 * f->C;
    const span rows = rows_of(f, chunk);
    int64_t c = 0;
    for (; c + ABREAST * VL <= f->C; c += ABREAST * VL)
        chunk_statistics(f, rows, c, ABREAST, VL, partial);
    for (; c < f->C; c += VL)
        chunk_statistics(f, rows, c, 1, min64(VL, f->C - c), partial);
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

/* As chunk_statistics: the sums of dz and dz (x - mean). */
INLINE void chunk_sums(const plan *f, span rows, int64_t c, int vectors, int64_t width, float *partial)
{
    vec mean[ABREAST], sum[ABREAST] = {0}, product[ABREAST] = {0};
    UNROLL
    for (int v = 0; v < vectors; v++)
        mean[v] = vec_load_n(f->mean + c + v * VL, width);
    for (int64_t at = rows.begin * f->C + c; at < rows.end * f->C; at += f->C) {
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const vec dz = upstream(f, at + v * VL, width);
            sum[v] += dz;
            product[v] += dz * (vec_load_n(f->x + at + v * VL, width) - mean[v]);
        }
    }
    UNROLL
    for (int v = 0; v < vectors; v++) {
        vec_store_n(partial + c + v * VL, sum[v], width);
        vec_store_n(partial + f->C + c + v * VL, product[v], width);
    }
}

static void sums_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    float *partial = f->partial + chunk * 2 * f->C;
    const span rows = rows_of(f, chunk);
    int64_t c = 0;
    for (; c + ABREAST * VL <= f->C; c += ABREAST * VL)
        chunk_sums(f, rows, c, ABREAST, VL, partial);
    for (; c < f->C; c += VL)
        chunk_sums(f, rows, c, 1, min64(VL, f->C - c), partial);
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
