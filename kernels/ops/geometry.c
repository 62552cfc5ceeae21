/* geometry.c - where a window lies over an image, for convolution and pooling. */
#include "kernels/ops/kernels.h"

/* Padding before the first row (or column) and the number of window positions along one axis; 0: it does not fit. */
static void along_axis(int64_t size, int64_t window, int64_t stride, gr_padding padding, const int pad[2],
                       int64_t *before, int64_t *positions)
{
    int64_t after = 0;
    *before = 0;
    if (padding == GR_SAME) { /* TensorFlow: ceil(size / stride) positions, the odd row of padding behind */
        int64_t wanted = (size + stride - 1) / stride;
        int64_t total = (wanted - 1) * stride + window - size;
        *before = total > 0 ? total / 2 : 0;
        after = total > 0 ? total - *before : 0;
    } else if (padding == GR_EXPLICIT) {
        *before = pad[0];
        after = pad[1];
    }
    int64_t padded = size + *before + after;
    *positions = padded < window ? 0 : (padded - window) / stride + 1;
}

gr_geometry gr__geometry(const gr_tensor *x, int64_t r, int64_t s, const gr_window *window, bool stride_is_size)
{
    gr_geometry g = {.n = x->shape[0], .h = x->shape[1], .w = x->shape[2], .c = x->shape[3], .r = r, .s = s};
    g.stride_h = window->stride[0] ? window->stride[0] : stride_is_size ? r : 1;
    g.stride_w = window->stride[1] ? window->stride[1] : stride_is_size ? s : 1;
    along_axis(g.h, r, g.stride_h, window->padding, window->pad, &g.pad_top, &g.p);
    along_axis(g.w, s, g.stride_w, window->padding, window->pad + 2, &g.pad_left, &g.q);
    return g;
}

bool gr__window_resolve(gr_build *b, gr_window *window, const gr_geometry *g)
{
    for (int i = 0; i < 4; i++)
        if (window->padding == GR_EXPLICIT && window->pad[i] < 0)
            return gr__op_fail(b, "padding %d is negative; it must be 0 or more", window->pad[i]);
    if ((unsigned)window->padding > GR_EXPLICIT || window->stride[0] < 0 || window->stride[1] < 0)
        return gr__op_fail(b,
                           "stride %d x %d with padding kind %d; strides are at least 1, the kinds are GR_VALID, "
                           "GR_SAME and GR_EXPLICIT",
                           window->stride[0], window->stride[1], (int)window->padding);
    if (g->p < 1 || g->q < 1)
        return gr__op_fail(b,
                           "a window of %lld x %lld does not fit into an image of %lld x %lld; use a larger image or "
                           "more padding",
                           (long long)g->r, (long long)g->s, (long long)g->h, (long long)g->w);
    /* Padding behind the last window position is dropped: nothing reads it. */
    int64_t bottom = (g->p - 1) * g->stride_h + g->r - g->h - g->pad_top;
    int64_t right = (g->q - 1) * g->stride_w + g->s - g->w - g->pad_left;
    *window = (gr_window){.stride = {(int)g->stride_h, (int)g->stride_w}, .padding = GR_EXPLICIT};
    window->pad[0] = (int)g->pad_top;
    window->pad[1] = bottom > 0 ? (int)bottom : 0;
    window->pad[2] = (int)g->pad_left;
    window->pad[3] = right > 0 ? (int)right : 0;
    return true;
}

bool gr__pool2d_check(gr_build *call, const gr_tensor *x, const int size[2], gr_window *window, gr_geometry *g)
{
    int r = size[0], s = size[1];
    if (r < 1 || s < 1)
        return gr__op_fail(call, "a pooling window of %d x %d; it must have at least 1 row and 1 column", r, s);
    *g = gr__geometry(x, r, s, window, true);
    if (!gr__window_resolve(call, window, g))
        return false;
    const int *pad = window->pad;
    if (pad[0] >= r || pad[1] >= r || pad[2] >= s || pad[3] >= s)
        return gr__op_fail(call,
                           "padding %d, %d, %d, %d (top, bottom, left, right) for a pooling window of %d x %d; it must "
                           "be smaller than the window, or a window would see no image at all",
                           pad[0], pad[1], pad[2], pad[3], r, s);
    return true;
}
