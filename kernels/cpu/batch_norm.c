/*
 * batch_norm.c - batch normalisation of x[n,C], n all dimensions but the last; formulas as in kernels/ref/batch_norm.c.
 *
 * x is cut into chunks of whole rows that stay in the second-level cache. Forward reads it twice: once for mean and
 * variance, which each chunk finds in two passes of its own and which are then put together in the chunks' order (Chan,
 * Golub and LeVeque 1983, equation 2.1), and once to normalise. Backward likewise: two sums, then dX.
 *
 * Activations and their gradients may be halves: they are widened in registers, all sums are of floats. What follows
 * is compiled for each type, which is why every pass has it as an argument.
 */
#include "kernels/cpu/any_float.h"

enum { CHUNK = 16384 /* elements */, CHUNKS = 256 /* at most: they are put together by one thread */ };

/* Vectors of channels that are summed side by side: a sum alone waits for its last addition in every row. */
enum { ABREAST = 4 };

/* Channels whose chunks are put together side by side: one alone waits for a division in every chunk. */
enum { TOGETHER = 16 };

typedef struct {
    int64_t n, C, rows, chunks; /* rows of a chunk */
    bool given, relu, accumulate_x, accumulate_residual;
    bool stream;                   /* results past the caches */
    gr_type type;                  /* of what is [n,C] */
    const void *x, *residual, *dy; /* [n,C] */
    const void *y_gate;            /* [n,C]: y where ReLU gates the gradient and a residual is in it, else NULL */
    bool z_gate;                   /* where none is: what y was made of is x, which is read anyway, and made again */
    void *y, *dx, *dresidual;      /* [n,C] */
    float *partial;                /* [chunks][2][C]: mean and squared deviations, or sums of dz and dz (x - mean) */
    float *mean, *scale, *beta;    /* [C]: y = (x - mean) scale + beta */
    float *shift, *slope;          /* [C]: dX = scale (dz - shift - (x - mean) slope) */
} plan;

static plan plan_of(const gr_call *call, gr_pass pass, scratch *s)
{
    const gr_batch_norm_args *args = call->options;
    const gr_tensor *x = call->in[0];
    plan f = {
        .C = x->shape[x->ndim - 1], .given = call->in[4] != NULL, .relu = args->relu, .type = x->type, .x = x->data};
    f.n = x->count / f.C;
    f.rows = max64(max64(1, CHUNK / f.C), ceil_div(f.n, CHUNKS));
    f.chunks = ceil_div(f.n, f.rows);
    f.partial = scratch_take(s, f.given && pass == GR_FORWARD ? 0 : f.chunks * 2 * f.C);
    f.mean = scratch_take(s, f.C);
    f.scale = scratch_take(s, f.C);
    f.beta = scratch_take(s, f.C);
    f.shift = scratch_take(s, pass == GR_FORWARD ? 0 : f.C);
    f.slope = scratch_take(s, pass == GR_FORWARD ? 0 : f.C);
    return f;
}

bool GR_CPU(batch_norm_halves)(const gr_call *call, gr_pass pass)
{
    return gr__halves_by_type(&gr__ops[GR_OP_batch_norm], call, pass);
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

/* Of a channel with the variance that is kept: backward makes the same of it as forward. */
static float scale_of(float gamma, float var, double epsilon)
{
    return (float)((double)gamma / sqrt((double)var + epsilon));
}

/* y before its ReLU, of channels [c, c + width) less their means. */
INLINE vec line(const plan *f, vec centred, int64_t c, int64_t width)
{
    return centred * vec_load_n(f->scale + c, width) + vec_load_n(f->beta + c, width);
}

/* --- forward ------------------------------------------------------------------------------------------------------ */

/*
 * Mean and sum of squared deviations of a chunk, of so many vectors of channels from c on, each of width channels. What
 * is summed is the distance from the first row: the sum of thousands of values far from 0 would round by more than they
 * differ.
 */
INLINE void chunk_statistics(const plan *f, gr_type type, span rows, int64_t c, int vectors, int64_t width,
                             float *partial)
{
    const int64_t begin = rows.begin * f->C + c, end = rows.end * f->C;
    vec first[ABREAST], mean[ABREAST], sum[ABREAST] = {0}, square[ABREAST] = {0};
    UNROLL
    for (int v = 0; v < vectors; v++)
        first[v] = load_as_n(type, f->x, begin + v * VL, width);
    for (int64_t at = begin; at < end; at += f->C) {
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[v] += load_as_n(type, f->x, at + v * VL, width) - first[v];
    }
    UNROLL
    for (int v = 0; v < vectors; v++)
        mean[v] = first[v] + sum[v] / (float)(rows.end - rows.begin);
    for (int64_t at = begin; at < end; at += f->C) {
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const vec d = load_as_n(type, f->x, at + v * VL, width) - mean[v];
            square[v] += d * d;
        }
    }
    UNROLL
    for (int v = 0; v < vectors; v++) {
        vec_store_n(partial + c + v * VL, mean[v], width);
        vec_store_n(partial + f->C + c + v * VL, square[v], width);
    }
}

INLINE void statistics(const plan *f, gr_type type, int64_t chunk)
{
    float *partial = f->partial + chunk * 2 * f->C;
    const span rows = rows_of(f, chunk);
    int64_t c = 0;
    for (; c + ABREAST * VL <= f->C; c += ABREAST * VL)
        chunk_statistics(f, type, rows, c, ABREAST, VL, partial);
    for (; c < f->C; c += VL)
        chunk_statistics(f, type, rows, c, 1, min64(VL, f->C - c), partial);
}

BY_TYPE(plan, statistics)

/* The batch's mean and variance of channels c .. c + width from those of the chunks. */
INLINE void put_together(const plan *f, int64_t c, int64_t width, double *mean, double *var)
{
    double count = 0, m[TOGETHER] = {0}, squares[TOGETHER] = {0};
    for (int64_t i = 0; i < f->chunks; i++) {
        const float *means = f->partial + i * 2 * f->C + c, *deviations = means + f->C;
        const span rows = rows_of(f, i);
        const double n = (double)(rows.end - rows.begin);
        count += n;
        for (int64_t j = 0; j < width; j++) {
            const double delta = (double)means[j] - m[j];
            m[j] += delta * n / count;
            squares[j] += (double)deviations[j] + delta * delta * n * (count - n) / count;
        }
    }
    for (int64_t j = 0; j < width; j++) {
        mean[j] = m[j];
        var[j] = squares[j] / count;
    }
}

/* Of channels c .. c + width: what was given, or the batch's. */
static void find_statistics(const gr_call *call, const plan *f, int64_t c, int64_t width, double *mean, double *var)
{
    if (f->given)
        for (int64_t j = 0; j < width; j++) {
            mean[j] = (double)gr__f32(call->in[4])[c + j];
            var[j] = (double)gr__f32(call->in[5])[c + j];
        }
    else if (width == TOGETHER) /* nearly always: a constant makes vectors of it */
        put_together(f, c, TOGETHER, mean, var);
    else
        put_together(f, c, width, mean, var);
}

/* Whether a result [n,C] is written past the caches. */
static bool streams(const plan *f, const void *result)
{
    return f->type == GR_F32 && goes_past_caches(result, f->n * f->C, f->C);
}

/* Writes numbers of a result. */
INLINE void put(const plan *f, gr_type type, void *result, int64_t at, vec v, int64_t width)
{
    if (f->stream)
        vec_stream((float *)result + at, v);
    else
        store_as_n(type, result, at, v, width);
}

/* One row, channels [c, c + width): (x - mean) scale + beta, + residual, then max(0,.) if asked. */
INLINE void normalise_vector(const plan *f, gr_type type, int64_t at, int64_t c, int64_t width)
{
    vec z = line(f, load_as_n(type, f->x, at, width) - vec_load_n(f->mean + c, width), c, width);
    if (f->residual)
        z += load_as_n(type, f->residual, at, width);
    put(f, type, f->y, at, f->relu ? vec_relu(z) : z, width);
}

INLINE void normalise(const plan *f, gr_type type, int64_t chunk)
{
    const span rows = rows_of(f, chunk);
    for (int64_t i = rows.begin; i < rows.end; i++) {
        int64_t c = 0;
        for (; c + VL <= f->C; c += VL)
            normalise_vector(f, type, i * f->C + c, c, VL);
        if (c < f->C)
            normalise_vector(f, type, i * f->C + c, c, f->C - c);
    }
}

BY_TYPE(plan, normalise)

/* Moves the tracked statistics of channel c, if there are any, towards these. */
static void track(const gr_call *call, int64_t c, float mean, float var)
{
    const gr_batch_norm_args *args = call->options;
    const double unbias = (double)args->values / (double)(args->values - 1);
    float *tracked_mean = gr__f32(call->in[6]), *tracked_var = gr__f32(call->in[7]); /* [C] or NULL */
    if (!tracked_mean || call->exec->state->skip)
        return;
    tracked_mean[c] = (float)gr__batch_norm_moved((double)tracked_mean[c], (double)mean, args->momentum);
    tracked_var[c] = (float)gr__batch_norm_moved((double)tracked_var[c], unbias * (double)var, args->momentum);
}

/* Statistics, kept where they are wanted and tracked, and what normalise needs of them. */
static void prepare_forward(const gr_call *call, const plan *f)
{
    const gr_batch_norm_args *args = call->options;
    const float *gamma = gr__f32(call->in[1]); /* [C] */
    float *kept_mean = gr__f32(call->out[1]), *kept_var = gr__f32(call->out[2]);
    double mean[TOGETHER], var[TOGETHER];
    memcpy(f->beta, gr__f32(call->in[2]), (size_t)f->C * sizeof *f->beta);
    for (int64_t c = 0; c < f->C; c++) {
        const int64_t j = c % TOGETHER;
        if (j == 0)
            find_statistics(call, f, c, min64(TOGETHER, f->C - c), mean, var);
        if (kept_mean)
            kept_mean[c] = (float)mean[j];
        if (kept_var)
            kept_var[c] = (float)var[j];
        track(call, c, (float)mean[j], (float)var[j]);
        f->mean[c] = (float)mean[j];
        f->scale[c] = scale_of(gamma[c], (float)var[j], args->epsilon);
    }
}

void GR_CPU(batch_norm_forward)(const gr_call *call)
{
    plan f = plan_of(call, GR_FORWARD, &(scratch){.base = call->exec->scratch});
    f.residual = data_of(call->in[3]);
    f.y = call->out[0]->data;
    f.stream = streams(&f, f.y);
    if (!f.given)
        gr_parallel_for(call->exec, f.chunks, statistics_chunk, &f);
    prepare_forward(call, &f);
    gr_parallel_for(call->exec, f.chunks, normalise_chunk, &f);
}

/* --- backward ----------------------------------------------------------------------------------------------------- */

/* dz of channels [c, c + width) of a row, whose x less their means is given. */
INLINE vec upstream(const plan *f, gr_type type, vec centred, int64_t at, int64_t c, int64_t width)
{
    const vec dy = load_as_n(type, f->dy, at, width);
    return f->z_gate   ? vec_gate(line(f, centred, c, width), dy)
           : f->y_gate ? vec_gate(load_as_n(type, f->y_gate, at, width), dy)
                       : dy;
}

/* As chunk_statistics: the sums of dz and dz (x - mean). */
INLINE void chunk_sums(const plan *f, gr_type type, span rows, int64_t c, int vectors, int64_t width, float *partial)
{
    vec mean[ABREAST], sum[ABREAST] = {0}, product[ABREAST] = {0};
    UNROLL
    for (int v = 0; v < vectors; v++)
        mean[v] = vec_load_n(f->mean + c + v * VL, width);
    for (int64_t at = rows.begin * f->C + c; at < rows.end * f->C; at += f->C) {
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const vec centred = load_as_n(type, f->x, at + v * VL, width) - mean[v];
            const vec dz = upstream(f, type, centred, at + v * VL, c + v * VL, width);
            sum[v] += dz;
            product[v] += dz * centred;
        }
    }
    UNROLL
    for (int v = 0; v < vectors; v++) {
        vec_store_n(partial + c + v * VL, sum[v], width);
        vec_store_n(partial + f->C + c + v * VL, product[v], width);
    }
}

INLINE void sums(const plan *f, gr_type type, int64_t chunk)
{
    float *partial = f->partial + chunk * 2 * f->C;
    const span rows = rows_of(f, chunk);
    int64_t c = 0;
    for (; c + ABREAST * VL <= f->C; c += ABREAST * VL)
        chunk_sums(f, type, rows, c, ABREAST, VL, partial);
    for (; c < f->C; c += VL)
        chunk_sums(f, type, rows, c, 1, min64(VL, f->C - c), partial);
}

BY_TYPE(plan, sums)

static void write(const gr_call *call, int slot, int64_t c, double v)
{
    float *d = gr__f32(call->d_in[slot]); /* [C] or NULL */
    if (d)
        d[c] = (float)(call->accumulate >> slot & 1 ? (double)d[c] + v : v);
}

/* What y is made of x by: a gate asks for it again, and dX for the scale. */
static void prepare_line(const gr_call *call, const plan *f)
{
    const gr_batch_norm_args *args = call->options;
    const float *gamma = gr__f32(call->in[1]), *var = gr__f32(f->given ? call->in[5] : call->out[2]); /* [C] */
    memcpy(f->mean, gr__f32(f->given ? call->in[4] : call->out[1]), (size_t)f->C * sizeof *f->mean);
    memcpy(f->beta, gr__f32(call->in[2]), (size_t)f->C * sizeof *f->beta);
    for (int64_t c = 0; c < f->C; c++)
        f->scale[c] = scale_of(gamma[c], var[c], args->epsilon);
}

/* dgamma and dbeta from the chunks' sums, and what else dX needs of them. */
static void prepare_dx(const gr_call *call, const plan *f)
{
    const gr_batch_norm_args *args = call->options;
    const float *var = gr__f32(f->given ? call->in[5] : call->out[2]); /* [C] */
    for (int64_t c = 0; c < f->C; c++) {
        const double s = 1 / sqrt((double)var[c] + args->epsilon);
        double sum = 0, product = 0;
        for (int64_t i = 0; i < f->chunks; i++) {
            sum += (double)f->partial[i * 2 * f->C + c];
            product += (double)f->partial[(i * 2 + 1) * f->C + c];
        }
        write(call, 1, c, product * s);
        write(call, 2, c, sum);
        f->shift[c] = f->given ? 0 : (float)(sum / (double)f->n);
        f->slope[c] = f->given ? 0 : (float)(product * s * s / (double)f->n);
    }
}

INLINE void give(const plan *f, gr_type type, void *d, vec v, int64_t at, int64_t width, bool accumulate)
{
    if (accumulate)
        store_as_n(type, d, at, load_as_n(type, d, at, width) + v, width);
    else
        put(f, type, d, at, v, width);
}

INLINE void gradients_vector(const plan *f, gr_type type, int64_t at, int64_t c, int64_t width)
{
    const vec centred = load_as_n(type, f->x, at, width) - vec_load_n(f->mean + c, width);
    const vec dz = upstream(f, type, centred, at, c, width);
    if (f->dresidual)
        give(f, type, f->dresidual, dz, at, width, f->accumulate_residual);
    if (!f->dx)
        return;
    vec d = dz;
    if (!f->given)
        d -= vec_load_n(f->shift + c, width) + centred * vec_load_n(f->slope + c, width);
    give(f, type, f->dx, d * vec_load_n(f->scale + c, width), at, width, f->accumulate_x);
}

INLINE void gradients(const plan *f, gr_type type, int64_t chunk)
{
    const span rows = rows_of(f, chunk);
    for (int64_t i = rows.begin; i < rows.end; i++) {
        int64_t c = 0;
        for (; c + VL <= f->C; c += VL)
            gradients_vector(f, type, i * f->C + c, c, VL);
        if (c < f->C)
            gradients_vector(f, type, i * f->C + c, c, f->C - c);
    }
}

BY_TYPE(plan, gradients)

void GR_CPU(batch_norm_backward)(const gr_call *call)
{
    plan f = plan_of(call, GR_BACKWARD, &(scratch){.base = call->exec->scratch});
    f.dy = call->d_out[0]->data;
    f.z_gate = f.relu && !call->in[3];
    f.y_gate = f.relu && call->in[3] ? call->out[0]->data : NULL;
    f.dx = data_of(call->d_in[0]);
    f.dresidual = data_of(call->d_in[3]);
    f.stream = streams(&f, f.dx) && streams(&f, f.dresidual);
    f.accumulate_x = call->accumulate & 1;
    f.accumulate_residual = call->accumulate >> 3 & 1;
    prepare_line(call, &f);
    gr_parallel_for(call->exec, f.chunks, sums_chunk, &f);
    prepare_dx(call, &f);
    if (f.dx || f.dresidual)
        gr_parallel_for(call->exec, f.chunks, gradients_chunk, &f);
}
