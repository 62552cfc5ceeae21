/* conv.c - what all passes of a convolution need: how work is cut, padded rows, packed filters, dz. */
#include "kernels/cpu/conv.h"

int64_t conv_chunks(int64_t units, int64_t floats_each)
{
    const int64_t fit = ((int64_t)8 << 20) / (int64_t)sizeof(float) / max64(1, floats_each);
    return min64(units, max64(4, min64(CONV_CHUNKS, fit)));
}

int64_t conv_unit_rows(int64_t n, int64_t rows, int64_t floats_each)
{
    const int64_t fit = ((int64_t)64 << 10) / (int64_t)sizeof(float) / max64(1, floats_each);
    const int64_t per_image = ceil_div(16, n); /* units of one image that keep 16 processors busy */
    return max64(1, min64(fit, ceil_div(rows, per_image)));
}

conv_input conv_input_of(const gr_geometry *g)
{
    const int64_t high = (g->p - 1) * g->stride_h + g->r; /* rows read */
    const int64_t wide = (g->q - 1) * g->stride_w + g->s; /* columns read */
    conv_input in = {.g = *g, .pitch = g->w * g->c};
    in.padded = g->pad_top || g->pad_left || high > g->h || wide > g->w;
    if (in.padded)
        in.pitch = wide * g->c;
    return in;
}

int64_t conv_strip(const conv_input *in, int64_t rows)
{
    return in->padded ? ((rows - 1) * in->g.stride_h + in->g.r) * in->pitch : 0;
}

const float *conv_rows(const conv_input *in, const float *x, int64_t n, int64_t p, int64_t rows, float *strip)
{
    const gr_geometry *g = &in->g;
    const int64_t first = p * g->stride_h - g->pad_top, high = (rows - 1) * g->stride_h + g->r;
    const float *image = x + n * g->h * g->w * g->c;
    if (!in->padded)
        return image + first * in->pitch;
    const int64_t left = min64(g->pad_left * g->c, in->pitch), middle = min64(in->pitch - left, g->w * g->c);
    for (int64_t i = 0; i < high; i++) {
        float *row = strip + i * in->pitch;
        const bool inside = first + i >= 0 && first + i < g->h;
        memset(row, 0, (size_t)(inside ? left : in->pitch) * sizeof *row);
        if (!inside)
            continue;
        memcpy(row + left, image + (first + i) * g->w * g->c, (size_t)middle * sizeof *row);
        memset(row + left + middle, 0, (size_t)(in->pitch - left - middle) * sizeof *row);
    }
    return strip;
}

typedef struct {
    const float *w; /* [K,R,S,C] */
    float *packed;
    int64_t k, depth;
} pack_job;

static void pack_chunk(void *arg, int64_t panel)
{
    const pack_job *job = arg;
    const int64_t k = panel * PANEL, width = min64(PANEL, job->k - k);
    float *packed = job->packed + k * job->depth;
    if (width < PANEL)
        memset(packed, 0, (size_t)(job->depth * PANEL) * sizeof *packed);
    transpose(job->w + k * job->depth, job->depth, width, job->depth, packed, PANEL);
}

void conv_pack_bias(const gr_call *call, float *bias)
{
    const int64_t k = call->in[1]->shape[0];
    memset(bias, 0, (size_t)round_up(k, PANEL) * sizeof *bias);
    if (call->in[2])
        memcpy(bias, gr__f32(call->in[2]), (size_t)k * sizeof *bias);
}

void conv_pack(const gr_call *call, float *packed, float *bias)
{
    const gr_tensor *w = call->in[1];
    pack_job job = {gr__f32(w), packed, w->shape[0], w->count / w->shape[0]};
    conv_pack_bias(call, bias);
    gr_parallel_for(call->exec, ceil_div(job.k, PANEL), pack_chunk, &job);
}

/* dst[0..count) = dy, or dy [y > 0]. */
INLINE void copy_masked(const float *dy, const float *y, float *dst, int64_t count)
{
    int64_t k = 0;
    for (; k + VL <= count; k += VL)
        vec_store(dst + k, y ? vec_gate(vec_load(y + k), vec_load(dy + k)) : vec_load(dy + k));
    if (k < count) {
        const vec v = vec_load_n(dy + k, count - k);
        vec_store_n(dst + k, y ? vec_gate(vec_load_n(y + k, count - k), v) : v, count - k);
    }
}

/* dst[0..count)[0..pitch) = 0 at a distance of step. */
static void clear(float *dst, int64_t count, int64_t pitch, int64_t step)
{
    if (pitch == step) {
        memset(dst, 0, (size_t)(count * pitch) * sizeof *dst);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        memset(dst + i * step, 0, (size_t)pitch * sizeof *dst);
}

/* Columns [col.begin, col.end) of row i of the image; at once where all channels lie side by side. */
static void fill_columns(const conv_dz *dz, const conv_box *box, int64_t i, span col, float *dst, int64_t pitch,
                         int64_t step)
{
    const int64_t width = box->channel.end - box->channel.begin, count = col.end - col.begin;
    const int64_t at = ((box->n * dz->p + i) * dz->q + col.begin) * dz->k + box->channel.begin;
    const float *dy = dz->dy + at, *y = dz->y ? dz->y + at : NULL;
    if (width == dz->k && width == step) {
        copy_masked(dy, y, dst, count * step);
        return;
    }
    for (int64_t j = 0; j < count; j++, dst += step) {
        copy_masked(dy + j * dz->k, y ? y + j * dz->k : NULL, dst, width);
        for (int64_t k = width; k < pitch; k++)
            dst[k] = 0;
    }
}

static void fill_plain(const conv_dz *dz, const conv_box *box, float *dst, int64_t pitch, int64_t step)
{
    const int64_t cols = box->col.end - box->col.begin;
    const span col = {max64(0, box->col.begin), max64(0, min64(dz->q, box->col.end))};
    for (int64_t i = box->row.begin; i < box->row.end; i++, dst += cols * step) {
        if (i < 0 || i >= dz->p || col.begin >= col.end) {
            clear(dst, cols, pitch, step);
            continue;
        }
        const int64_t left = col.begin - box->col.begin, right = col.end - box->col.begin;
        clear(dst, left, pitch, step);
        fill_columns(dz, box, i, col, dst + left * step, pitch, step);
        clear(dst + right * step, cols - right, pitch, step);
    }
}

enum { AHEAD = 1024 }; /* elements from the one at work to those asked for: dY comes from memory */

/* Hands dy to the places u x v of a window that begins at dst and is `wide` places wide, to each where it won. */
INLINE void hand_on(vec dy, ivec winner, span u, span v, int64_t wide, float *dst, int64_t row, int64_t pitch,
                    int64_t n)
{
    for (int64_t i = u.begin; i < u.end; i++)
        for (int64_t j = v.begin; j < v.end; j++) {
            float *d = dst + i * row + j * pitch;
            vec_store_n(d, vec_load_n(d, n) + vec_select(ivec_equal(winner, (int)(i * wide + j)), dy, (vec){0}), n);
        }
}

/* The same for channels [at, at + count) of dY. */
static void hand_on_pixel(const conv_dz *dz, int64_t at, int64_t count, span u, span v, float *dst, int64_t row,
                          int64_t pitch)
{
    const span two = {0, 2};
    const bool usual = dz->pool.r == 2 && dz->pool.s == 2 && u.end - u.begin == 2 && v.end - v.begin == 2;
    int64_t k = 0;
    for (; k + VL <= count; k += VL) {
        prefetch(dz->dy + at + k + AHEAD);
        prefetch(dz->argmax + at + k + AHEAD);
        const vec dy = vec_load(dz->dy + at + k);
        const ivec winner = ivec_from_bytes(dz->argmax + at + k);
        if (usual) /* constants unroll it */
            hand_on(dy, winner, two, two, 2, dst + k, row, pitch, VL);
        else
            hand_on(dy, winner, u, v, dz->pool.s, dst + k, row, pitch, VL);
    }
    if (k < count) {
        uint8_t places[VL] = {0};
        memcpy(places, dz->argmax + at + k, (size_t)(count - k));
        hand_on(vec_load_n(dz->dy + at + k, count - k), ivec_from_bytes(places), u, v, dz->pool.s, dst + k, row, pitch,
                count - k);
    }
}

/* Places of the window at position p of one axis that lie in the box and in the image, whose size is given. */
static span places_in(span box, int64_t p, int64_t stride, int64_t pad, int64_t places, int64_t size)
{
    const int64_t first = p * stride - pad;
    return (span){max64(max64(0, box.begin) - first, 0), min64(min64(size, box.end) - first, places)};
}

static void fill_pooled(const conv_dz *dz, const conv_box *box, float *dst, int64_t step)
{
    const gr_geometry *o = &dz->pool;
    const int64_t row = (box->col.end - box->col.begin) * step;
    const int64_t first = max64(0, floor_div(box->row.begin + o->pad_top - o->r, o->stride_h) + 1);
    for (int64_t p = first; p < o->p && p * o->stride_h - o->pad_top < box->row.end; p++) {
        const span u = places_in(box->row, p, o->stride_h, o->pad_top, o->r, dz->p);
        for (int64_t q = 0; q < o->q; q++) {
            const span v = places_in(box->col, q, o->stride_w, o->pad_left, o->s, dz->q);
            const int64_t i = p * o->stride_h - o->pad_top - box->row.begin;
            const int64_t j = q * o->stride_w - o->pad_left - box->col.begin;
            hand_on_pixel(dz, ((box->n * o->p + p) * o->q + q) * dz->k + box->channel.begin,
                          box->channel.end - box->channel.begin, u, v, dst + i * row + j * step, row, step);
        }
    }
}

void conv_dz_fill(const conv_dz *dz, const conv_box *box, float *dst, int64_t pitch, int64_t step)
{
    if (dz->argmax) {
        clear(dst, (box->row.end - box->row.begin) * (box->col.end - box->col.begin), pitch, step);
        fill_pooled(dz, box, dst, step);
    } else
        fill_plain(dz, box, dst, pitch, step);
}

enum { SUMS = 4 }; /* independent chains of additions that hide their latency */

void conv_add_rows(const float *dz, int64_t pixels, float *sum)
{
    for (int64_t k = 0; k < PANEL; k += VL) {
        vec s[SUMS] = {{0}};
        int64_t i = 0;
        for (; i + SUMS <= pixels; i += SUMS) {
            UNROLL
            for (int j = 0; j < SUMS; j++)
                s[j] += vec_load(dz + (i + j) * PANEL + k);
        }
        for (; i < pixels; i++)
            s[0] += vec_load(dz + i * PANEL + k);
        vec_store(sum + k, vec_load(sum + k) + ((s[0] + s[1]) + (s[2] + s[3])));
    }
}

size_t conv_backward_scratch(const gr_call *call, const gr_geometry *g, const conv_dz *dz)
{
    const size_t x = conv_grad_x_scratch(call, g, dz), w = conv_grad_w_scratch(call, g, dz);
    return x > w ? x : w;
}

void conv_backward(const gr_call *call, const gr_geometry *g, const conv_dz *dz)
{
    if (call->d_in[0])
        conv_grad_x(call, g, dz);
    if (call->d_in[1] || call->d_in[2])
        conv_grad_w(call, g, dz);
}
