/* conv_dz.c - dz made from dY piece by piece: masked by a ReLU, or handed to the winners of pooling windows. */
#include "kernels/cpu/conv_dz.h"

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
