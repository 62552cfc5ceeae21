/* dense_layer.c - a dense (fully connected) layer with its weights and bias. */
#include <math.h>

#include "nn/module.h"

static bool build(gr_module *m, gr_features *f, gr_parameters *list)
{
    const gr_dense_options *o = &m->dense;
    if (f->ndim != 1)
        return gr__fail(m->ctx, GR_USAGE,
                        "%s: a dense layer wants rows of features, not images; put a flatten layer before it", m->name);
    gr_parameter_plan w = {.role = GR__DENSE_WEIGHT,
                           .ndim = 2,
                           .shape = {f->dim[0], o->units},
                           .init = o->init,
                           .flat = {f->flat[0], f->flat[1], f->flat[2]},
                           .fan_in = f->dim[0],
                           .fan_out = o->units,
                           .l2 = o->l2,
                           .place = &m->weight};
    gr_parameter_plan b = {.role = GR__VECTOR,
                           .ndim = 1,
                           .shape = {o->units},
                           .fan_in = f->dim[0],
                           .place = &m->bias,
                           .init = o->init == GR_KAIMING_UNIFORM ? GR_KAIMING_UNIFORM : GR_ZEROS};
    *f = (gr_features){.ndim = 1, .dim = {o->units}};
    return gr__declare(m, list, "weight", &w) && (o->no_bias || gr__declare(m, list, "bias", &b));
}

static gr_tensor *forward(gr_module *m, gr_tensor *x)
{
    return gr_dense(x, m->weight, m->bias, NULL);
}

const gr_module_class gr__dense_class = {"dense", build, forward};

gr_module *gr_dense_layer(gr_context *ctx, const gr_dense_options *options)
{
    if (!gr_ok(ctx))
        return NULL;
    if (!options || options->units < 1) {
        gr__fail(ctx, GR_USAGE, "gr_dense_layer: units is %d; it must be at least 1", options ? options->units : 0);
        return NULL;
    }
    if (!isfinite(options->l2) || options->l2 < 0) {
        gr__fail(ctx, GR_USAGE, "gr_dense_layer: l2 is %g; it must be a number of at least 0", options->l2);
        return NULL;
    }
    gr_module *m = gr__module_new(ctx, &gr__dense_class);
    if (m)
        m->dense = *options;
    return m;
}
