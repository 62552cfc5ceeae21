/* plain_layers.c - the layers without parameters: ReLU, sigmoid, flatten, max-pool. */
#include "nn/module.h"

static bool keep_shape(gr_module *m, gr_features *f, gr_parameters *list)
{
    (void)m, (void)f, (void)list;
    return true;
}

static gr_tensor *relu(gr_module *m, gr_tensor *x)
{
    (void)m;
    return gr_relu(x);
}

static gr_tensor *sigmoid(gr_module *m, gr_tensor *x)
{
    (void)m;
    return gr_sigmoid(x);
}

static bool flatten_shape(gr_module *m, gr_features *f, gr_parameters *list)
{
    (void)m, (void)list;
    if (f->ndim == 3)
        *f = (gr_features){.ndim = 1, .dim = {f->dim[0] * f->dim[1] * f->dim[2]}, .flat = {f->dim[0], f->dim[1], f->dim[2]}};
    return true;
}

static gr_tensor *flatten(gr_module *m, gr_tensor *x)
{
    (void)m;
    return gr_flatten(x);
}

gr_max_pool2d_args gr__pool_args(const gr_module *m)
{
    return (gr_max_pool2d_args){.size = {m->pool_size, m->pool_size}};
}

static bool pool_shape(gr_module *m, gr_features *f, gr_parameters *list)
{
    (void)list;
    gr_max_pool2d_args args = gr__pool_args(m);
    gr_geometry g = gr__sample_geometry(f, args.size[0], args.size[1], &args.window, true);
    if (f->ndim != 3 || g.p < 1 || g.q < 1)
        return gr__fail(m->ctx, GR_USAGE, "%s: a %dx%d window does not fit into its input (%lldx%lld)", m->name, m->pool_size,
                        m->pool_size, (long long)f->dim[0], (long long)f->dim[1]);
    f->dim[0] = g.p;
    f->dim[1] = g.q;
    return true;
}

static gr_tensor *pool(gr_module *m, gr_tensor *x)
{
    gr_max_pool2d_args args = gr__pool_args(m);
    return gr_max_pool2d(x, &args);
}

const gr_module_class gr__relu_class = {"relu", keep_shape, relu};
const gr_module_class gr__sigmoid_class = {"sigmoid", keep_shape, sigmoid};
const gr_module_class gr__flatten_class = {"flatten", flatten_shape, flatten};
const gr_module_class gr__max_pool2d_class = {"pool", pool_shape, pool};

gr_module *gr_relu_layer(gr_context *ctx)
{
    return gr__module_new(ctx, &gr__relu_class);
}

gr_module *gr_sigmoid_layer(gr_context *ctx)
{
    return gr__module_new(ctx, &gr__sigmoid_class);
}

gr_module *gr_flatten_layer(gr_context *ctx)
{
    return gr__module_new(ctx, &gr__flatten_class);
}

gr_module *gr_max_pool2d_layer(gr_context *ctx, int size)
{
    if (!gr_ok(ctx))
        return NULL;
    if (size < 1 || size > 15) {
        gr__fail(ctx, GR_USAGE, "gr_max_pool2d_layer: a window of %d x %d; its side must be 1 to 15", size, size);
        return NULL;
    }
    gr_module *m = gr__module_new(ctx, &gr__max_pool2d_class);
    if (m)
        m->pool_size = size;
    return m;
}
