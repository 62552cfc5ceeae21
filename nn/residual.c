/* residual.c - a residual block: max(0, body(x) + shortcut(x)). */
#include <stdio.h>
#include <string.h>

#include "nn/module.h"

enum { BODY, SHORTCUT };

/* Whether the addition and the ReLU run inside the body's last batch normalisation. */
static bool is_fused(const gr_module *m)
{
    const gr_module *body = m->children[BODY];
    return !m->ctx->options.no_fusion && body->children[body->n_children - 1]->class == &gr__batch_norm_class;
}

static void shape_text(const gr_features *f, char text[64])
{
    if (f->ndim == 1)
        snprintf(text, 64, "[%lld]", (long long)f->dim[0]);
    else
        snprintf(text, 64, "[%lld,%lld,%lld]", (long long)f->dim[0], (long long)f->dim[1], (long long)f->dim[2]);
}

/* What messages and the trace call the addition: the block's only stage that is not its parts'. */
static bool name_joint(gr_module *m)
{
    const gr_module *body = m->children[BODY];
    m->stages = gr__calloc(m->ctx, 1, sizeof *m->stages);
    if (!m->stages)
        return false;
    snprintf(m->stages->name, sizeof m->stages->name, is_fused(m) ? "%s+add+relu" : "%s.add+relu",
             is_fused(m) ? body->children[body->n_children - 1]->name : m->name);
    return true;
}

/* The body's layers carry the block's name, those of the shortcut one more, as torchvision names them. */
static bool build(gr_module *m, gr_features *f, gr_parameters *list)
{
    gr_module *body = m->children[BODY], *shortcut = m->children[SHORTCUT];
    gr_features side = *f;
    memcpy(body->name, m->name, sizeof body->name);
    if (!body->class->build(body, f, list) || !name_joint(m))
        return false;
    if (shortcut) {
        gr__name_module(shortcut, m, "downsample");
        shortcut->numbered = true;
        if (!shortcut->class->build(shortcut, &side, list))
            return false;
    }
    if (f->ndim == side.ndim && !memcmp(f->dim, side.dim, sizeof f->dim))
        return true;
    char one[64], other[64];
    shape_text(f, one);
    shape_text(&side, other);
    return gr__fail(m->ctx, GR_USAGE, "%s: the body gives %s, the shortcut %s; they are added, so they must agree",
                    m->name, one, other);
}

/* The body's last normalisation, the addition and the ReLU in one. */
static gr_tensor *join(gr_module *m, gr_tensor *inner, gr_tensor *side)
{
    gr_module *body = m->children[BODY], *last = body->children[body->n_children - 1];
    if (!is_fused(m))
        return gr_add(inner, side, &(gr_add_args){.relu = true});
    return gr__batch_norm_run(last, inner, side, true);
}

static gr_tensor *forward(gr_module *m, gr_tensor *x)
{
    gr_module *body = m->children[BODY], *shortcut = m->children[SHORTCUT];
    gr_tensor *inner = gr__run_stages(body, x, 0, body->n_stages - is_fused(m));
    gr_tensor *side = shortcut ? shortcut->class->forward(shortcut, x) : x;
    const char *before = gr__enter_module(m->ctx, m->stages->name);
    gr_tensor *y = join(m, inner, side);
    gr__enter_module(m->ctx, before);
    if (!y)
        return NULL;
    gr__let_go(inner, y, x);
    gr__let_go(side, y, x);
    return y;
}

const gr_module_class gr__residual_class = {"block", build, forward};

gr_module *gr_residual(gr_context *ctx, gr_module *body, gr_module *shortcut)
{
    if (!gr_ok(ctx) || !body)
        return NULL;
    if (body->class != &gr__sequential_class || (shortcut && shortcut->class != &gr__sequential_class)) {
        gr__fail(ctx, GR_USAGE,
                 "gr_residual: body and shortcut must be sequentials; wrap a single layer in gr_sequential");
        return NULL;
    }
    if (!gr__place(body, "gr_residual") || (shortcut && !gr__place(shortcut, "gr_residual")))
        return NULL;
    gr_module *m = gr__module_new(ctx, &gr__residual_class);
    if (!m)
        return NULL;
    m->children = gr__calloc(ctx, 2, sizeof *m->children);
    if (!m->children)
        return NULL;
    m->children[BODY] = body;
    m->children[SHORTCUT] = shortcut;
    m->n_children = 2;
    return m;
}
