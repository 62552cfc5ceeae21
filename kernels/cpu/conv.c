/* conv.c - what the passes of a convolution need: how work is cut, padded rows, packed filters. */
#include "kernels/cpu/conv.h"

#include "kernels/cpu/cast.h"

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

conv_input conv_input_of(const gr_geometry *g, gr_type type)
{
    const int64_t high = (g->p - 1) * g->stride_h + g->r; /* rows read */
    const int64_t wide = (g->q - 1) * g->stride_w + g->s; /* columns read */
    const bool padded = g->pad_top || g->pad_left || high > g->h || wide > g->w;
    conv_input in = {.g = *g, .type = type, .copied = padded || type != GR_F32, .pitch = g->w * g->c};
    if (padded)
        in.pitch = wide * g->c;
    return in;
}

int64_t conv_strip(const conv_input *in, int64_t rows)
{
    return in->copied ? ((rows - 1) * in->g.stride_h + in->g.r) * in->pitch : 0;
}

const float *conv_rows(const conv_input *in, const void *x, int64_t n, int64_t p, int64_t rows, float *strip)
{
    const gr_geometry *g = &in->g;
    const int64_t first = p * g->stride_h - g->pad_top, high = (rows - 1) * g->stride_h + g->r;
    const int64_t image = n * g->h * g->w * g->c, size = (int64_t)gr_type_size(in->type);
    if (!in->copied)
        return (const float *)x + image + first * in->pitch;
    const int64_t left = min64(g->pad_left * g->c, in->pitch), middle = min64(in->pitch - left, g->w * g->c);
    for (int64_t i = 0; i < high; i++) {
        float *row = strip + i * in->pitch;
        const bool inside = first + i >= 0 && first + i < g->h;
        memset(row, 0, (size_t)(inside ? left : in->pitch) * sizeof *row);
        if (!inside)
            continue;
        GR_CPU(convert)
        (GR_F32, row + left, in->type, (const char *)x + (image + (first + i) * g->w * g->c) * size, middle);
        memset(row + left + middle, 0, (size_t)(in->pitch - left - middle) * sizeof *row);
    }
    return strip;
}

memory_run conv_ahead(const conv_input *in, const void *x, int64_t n, int64_t end, int64_t rows)
{
    const gr_geometry *g = &in->g;
    const int64_t first = n * g->h + min64(g->h, (end - 1) * g->stride_h + g->r - g->pad_top);
    const int64_t row = g->w * g->c * (int64_t)gr_type_size(in->type); /* bytes */
    if (g->n * g->h * g->w * g->c < PAST_CACHES)
        return (memory_run){NULL, 0};
    return (memory_run){(const char *)x + first * row, max64(0, min64(rows, g->n * g->h - first)) * row};
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

/* dw[filters][count], r_s_c apart, += turned[filters][count]. */
static void add_turned(const conv_dw *to, int64_t filters, int64_t count, const float *turned, int64_t pitch, float *dw)
{
    for (int64_t i = 0; i < filters; i++)
        for (int64_t j = 0; j < count; j += VL) {
            const int64_t width = min64(VL, count - j);
            float *d = dw + i * to->r_s_c + j;
            vec_store_n(d, vec_load_n(d, width) + vec_load_n(turned + i * pitch + j, width), width);
        }
}

enum {
    GIVEN = 4 * VL,       /* numbers of a filter that are turned at a time where they are added */
    GIVEN_PAST = 1 << 20, /* of dW, whose optimizer comes when all other gradients have been written, too */
};

void conv_give(const conv_dw *to, int64_t panel, int64_t at, int64_t count, const float *sums)
{
    const int64_t filters = min64(PANEL, to->k - panel * PANEL);
    float *dw = to->dw + panel * PANEL * to->r_s_c + at;
    if (!to->accumulate) {
        if (to->k * to->r_s_c >= GIVEN_PAST && is_lines(dw, to->r_s_c))
            transpose_past_caches(sums, PANEL, count, filters, dw, to->r_s_c);
        else
            transpose(sums, PANEL, count, filters, dw, to->r_s_c);
        return;
    }
    float turned[PANEL * GIVEN] __attribute__((aligned(64)));
    for (int64_t i = 0; i < count; i += GIVEN) {
        const int64_t some = min64(GIVEN, count - i);
        transpose(sums + i * PANEL, PANEL, some, filters, turned, GIVEN);
        add_turned(to, filters, some, turned, GIVEN, dw + i);
    }
}

void conv_pack(const gr_call *call, float *packed, float *bias)
{
    const gr_tensor *w = call->in[1];
    pack_job job = {gr__f32(w), packed, w->shape[0], w->count / w->shape[0]};
    conv_pack_bias(call, bias);
    gr_parallel_for(call->exec, ceil_div(job.k, PANEL), pack_chunk, &job);
}
