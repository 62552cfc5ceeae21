/* plain_layers.c - the layers without parameters: element-wise functions, dropout, scale, flatten, poolings. */
#include <math.h>

#include "nn/module.h"

static bool keep_shape(gr_module *m, gr_features *f, gr_parameters *list)
{
    (void)m, (void)f, (void)list;
    return true;
}

/* gr_relu_layer, gr_sigmoid_layer, ...: of each GR_UNARY in ops.def, named as it is. */
#define GR_OP(...)
#define GR_UNARY(name, ...)                                                         \
    static gr_tensor *name##_forward(gr_module *m, gr_tensor *x)                    \
    {                                                                               \
        (void)m;                                                                    \
        return gr_##name(x);                                                        \
    }                                                                               \
    const gr_module_class gr__##name##_class = {#name, keep_shape, name##_forward}; \
    gr_module *gr_##name##_layer(gr_context *ctx)                                   \
    {                                                                               \
        return gr__module_new(ctx, &gr__##name##_class);                            \
    }
#include "kernels/ops/ops.def"

/* Evaluation, without a tape, drops nothing. */
static gr_tensor *dropout(gr_module *m, gr_tensor *x)
{
    return m->ctx->recording ? gr_dropout(x, m->rate) : x;
}

static gr_tensor *scale(gr_module *m, gr_tensor *x)
{
    return gr_scale(x, m->rate);
}

static bool flatten_shape(gr_module *m, gr_features *f, gr_parameters *list)
{
    (void)m, (void)list;
    if (f->ndim == 3)
        *f = (gr_features){
            .ndim = 1, .dim = {f->dim[0] * f->dim[1] * f->dim[2]}, .flat = {f->dim[0], f->dim[1], f->dim[2]}};
    return true;
}

static gr_tensor *flatten(gr_module *m, gr_tensor *x)
{
    (void)m;
    return gr_flatten(x);
}

static bool pool_shape(gr_module *m, gr_features *f, gr_parameters *list)
{
    (void)list;
    const int *size = m->pool.size;
    gr_geometry g = gr__sample_geometry(f, size[0], size[1], &m->pool.window, true);
    if (f->ndim != 3 || g.p < 1 || g.q < 1)
        return gr__fail(m->ctx, GR_USAGE, "%s: a %dx%d window does not fit into its input (%lldx%lld)", m->name,
                        size[0], size[1], (long long)f->dim[0], (long long)f->dim[1]);
    f->dim[0] = g.p;
    f->dim[1] = g.q;
    return true;
}

static gr_tensor *pool(gr_module *m, gr_tensor *x)
{
    return gr_max_pool2d(x, &m->pool);
}

static bool global_pool_shape(gr_module *m, gr_features *f, gr_parameters *list)
{
    (void)list;
    if (f->ndim != 3)
        return gr__fail(m->ctx, GR_USAGE,
                        "%s: global average pooling wants images (H, W, C), not rows of %lld features", m->name,
                        (long long)f->dim[0]);
    *f = (gr_features){.ndim = 1, .dim = {f->dim[2]}};
    return true;
}

static gr_tensor *global_pool(gr_module *m, gr_tensor *x)
{
    (void)m;
    return gr_global_avg_pool(x);
}

const gr_module_class gr__global_avg_pool_class = {"avgpool", global_pool_shape, global_pool};
const gr_module_class gr__dropout_class = {"dropout", keep_shape, dropout};
const gr_module_class gr__scale_class = {"scale", keep_shape, scale};
const gr_module_class gr__flatten_class = {"flatten", flatten_shape, flatten};
const gr_module_class gr__max_pool2d_class = {"pool", pool_shape, pool};

gr_module *gr_dropout_layer(gr_context *ctx, double rate)
{
    if (!gr_ok(ctx))
        return NULL;
    if (!(rate >= 0 && rate < 1)) {
        gr__fail(ctx, GR_USAGE, "gr_dropout_layer: a rate of %g; it must lie in [0, 1)", rate);
        return NULL;
    }
    gr_module *m = gr__module_new(ctx, &gr__dropout_class);
    if (m)
        m->rate = rate;
    return m;
}

gr_module *gr_scale_layer(gr_context *ctx, double factor)
{
    if (!gr_ok(ctx))
        return NULL;
    if (!(factor > 0 && isfinite(factor))) {
        gr__fail(ctx, GR_USAGE, "gr_scale_layer: a factor of %g; it must be a positive number", factor);
        return NULL;
    }
    gr_module *m = gr__module_new(ctx, &gr__scale_class);
    if (m)
        m->rate = factor;
    return m;
}

gr_module *gr_flatten_layer(gr_context *ctx)
{
    return gr__module_new(ctx, &gr__flatten_class);
}

gr_module *gr_global_avg_pool_layer(gr_context *ctx)
{
    return gr__module_new(ctx, &gr__global_avg_pool_class);
}

gr_module *gr_max_pool2d_layer(gr_context *ctx, int size)
{
    return gr_max_pool2d_window_layer(ctx, &(gr_max_pool2d_args){.size = {size, size}});
}

gr_module *gr_max_pool2d_window_layer(gr_context *ctx, const gr_max_pool2d_args *args)
{
    if (!gr_ok(ctx))
        return NULL;
    const int *size = args ? args->size : (int[2]){0};
    if (size[0] < 1 || size[1] < 1 || size[0] > 255 / size[1]) {
        gr__fail(ctx, GR_USAGE, "gr_max_pool2d_layer: a window of %d x %d; it must have 1 to 255 elements", size[0],
                 size[1]);
        return NULL;
    }
    gr_module *m = gr__module_new(ctx, &gr__max_pool2d_class);
    if (m)
        m->pool = *args;
    return m;
}
