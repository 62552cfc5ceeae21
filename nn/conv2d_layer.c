/* conv2d_layer.c - a convolution with its filters and bias. */
#include "nn/module.h"

gr_window gr__conv2d_window(const gr_conv2d_options *o)
{
    return (gr_window){
        .stride = {o->stride, o->stride}, .padding = o->padding, .pad = {o->pad[0], o->pad[1], o->pad[2], o->pad[3]}};
}

static bool build(gr_module *m, gr_features *f, gr_parameters *list)
{
    const gr_conv2d_options *o = &m->conv;
    int64_t r = o->kernel_size[0] ? o->kernel_size[0] : o->kernel,
            s = o->kernel_size[1] ? o->kernel_size[1] : o->kernel;
    if (f->ndim != 3)
        return gr__fail(m->ctx, GR_USAGE, "%s: a convolution wants images (H, W, C), not rows of %lld features",
                        m->name, (long long)f->dim[0]);
    gr_window window = gr__conv2d_window(o);
    gr_geometry g = gr__sample_geometry(f, r, s, &window, false);
    if (g.p < 1 || g.q < 1)
        return gr__fail(m->ctx, GR_USAGE,
                        "%s: a %lldx%lld window does not fit into an image of %lldx%lld; use a larger image "
                        "or GR_SAME padding",
                        m->name, (long long)r, (long long)s, (long long)f->dim[0], (long long)f->dim[1]);
    gr_parameter_plan w = {.role = GR__FILTERS,
                           .ndim = 4,
                           .shape = {o->filters, r, s, f->dim[2]},
                           .init = o->init,
                           .fan_in = r * s * f->dim[2],
                           .fan_out = r * s * o->filters,
                           .place = &m->weight};
    gr_parameter_plan b = {.role = GR__VECTOR,
                           .ndim = 1,
                           .shape = {o->filters},
                           .fan_in = w.fan_in,
                           .place = &m->bias,
                           .init = o->init == GR_KAIMING_UNIFORM ? GR_KAIMING_UNIFORM : GR_ZEROS};
    *f = (gr_features){.ndim = 3, .dim = {g.p, g.q, o->filters}};
    return gr__declare(m, list, "weight", &w) && (o->no_bias || gr__declare(m, list, "bias", &b));
}

static gr_tensor *forward(gr_module *m, gr_tensor *x)
{
    return gr_conv2d(x, m->weight, m->bias, &(gr_conv2d_args){.window = gr__conv2d_window(&m->conv)});
}

const gr_module_class gr__conv2d_class = {"conv", build, forward};

gr_module *gr_conv2d_layer(gr_context *ctx, const gr_conv2d_options *options)
{
    if (!gr_ok(ctx))
        return NULL;
    gr_conv2d_options o = options ? *options : (gr_conv2d_options){0};
    bool sized = o.kernel > 0 || (o.kernel_size[0] > 0 && o.kernel_size[1] > 0);
    if (o.filters < 1 || !sized || o.kernel < 0 || o.stride < 0) {
        gr__fail(ctx, GR_USAGE,
                 "gr_conv2d_layer: filters %d, kernel %d, stride %d: filters and kernel must be at least 1", o.filters,
                 o.kernel, o.stride);
        return NULL;
    }
    if (o.stride == 0)
        o.stride = 1;
    gr_module *m = gr__module_new(ctx, &gr__conv2d_class);
    if (m)
        m->conv = o;
    return m;
}
