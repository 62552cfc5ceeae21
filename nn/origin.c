/* origin.c - what a model that was read from a text knows of it: where its layers stand, and what it must answer. */
#include <stdio.h>
#include <string.h>

#include "nn/module.h"

bool gr__blame(const gr_module *m)
{
    gr_context *ctx = m->ctx;
    const gr_origin *o = &m->origin;
    char text[sizeof ctx->error];
    if (!o->file || ctx->code != GR_USAGE) /* what was placed already is bad data */
        return false;
    snprintf(text, sizeof text, "%s:%d:%d: ", o->file, o->line, o->column);
    strncat(text, ctx->error, sizeof text - strlen(text) - 1);
    memcpy(ctx->error, text, sizeof text);
    ctx->code = GR_BAD_DATA;
    return false;
}

bool gr__check_answer(const gr_module *m, const gr_features *f)
{
    if (!m->text)
        return true;
    if (f->ndim != 1)
        gr__fail(m->ctx, GR_USAGE,
                 "the model's answer is an image of %lldx%lldx%lld; end it with flatten or global_avg_pool, and dense "
                 "classes",
                 (long long)f->dim[0], (long long)f->dim[1], (long long)f->dim[2]);
    else if (f->dim[0] < m->classes && !(f->dim[0] == 1 && m->classes == 2))
        gr__fail(m->ctx, GR_USAGE, "the model's answer has %lld numbers for %d classes; end it with dense classes",
                 (long long)f->dim[0], m->classes);
    return gr_ok(m->ctx) || gr__blame(m);
}

const char *gr_model_text(const gr_module *net)
{
    return net ? net->text : NULL;
}
