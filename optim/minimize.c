/*
 * minimize.c - backward and update in one. A dense layer's weights are read, differentiated and updated in a single sweep,
 * so a gradient as large as the weights is never stored.
 */
#include "kernels/kernels.h"
#include "nn/module.h"
#include "optim/optimizer.h"

enum { X = 0, W = 1, B = 2 }; /* input slots of dense */

/* How many inputs of nodes on the tape are t. */
static int uses(const gr_context *ctx, const gr_tensor *t)
{
    int n = 0;
    for (int i = 0; i < ctx->n_nodes; i++)
        for (int j = 0; j < ctx->nodes[i]->call.n_in; j++)
            n += ctx->nodes[i]->call.in[j] == t;
    return n;
}

/* A parameter of this model whose only gradient in this update comes from one node. */
static bool sole_use(const gr_optimizer *opt, const gr_tensor *t)
{
    return t->slab == opt->net->parameters->slab && !t->grad_written && uses(opt->ctx, t) == 1;
}

static bool can_fuse(const gr_optimizer *opt, const gr_node *node)
{
    const gr_call *c = &node->call;
    if (!gr__may_fuse(opt) || node->op->id != GR_OP_dense || !sole_use(opt, c->in[W]) || (c->in[B] && !sole_use(opt, c->in[B])))
        return false;
    return !c->in[X]->wants_grad || c->in[X]->node >= 0; /* the gradient of a leaf x must be stored: leave that to the engine */
}

/* Marks the nodes to take over, and tells their weights that they need no gradient buffer. */
static void claim(gr_optimizer *opt)
{
    gr_context *ctx = opt->ctx;
    for (int i = 0; i < ctx->n_nodes; i++) {
        gr_node *node = ctx->nodes[i];
        if (!can_fuse(opt, node))
            continue;
        gr_tensor *w = node->call.in[W];
        node->claimed = 1u << X | 1u << W;
        opt->fused[w->segment] = true;
        if (!w->grad)
            w->slab->segments[w->segment].no_gradient = true;
    }
}

/* dx becomes, or is added to, the gradient of x. */
static bool deliver(gr_tensor *x, gr_tensor *dx)
{
    if (!x->grad) {
        x->grad = dx;
        return true;
    }
    const bool added = gr__add_to(x->grad, dx);
    gr__release(dx);
    return added;
}

/* The backward pass of one claimed dense node. */
static bool run(void *user, gr_node *node, gr_call *call)
{
    gr_optimizer *opt = user;
    gr_tensor *x = call->in[X], *w = call->in[W], *m[GR__MAX_MOMENTS] = {0};
    const gr_dense_args *args = call->options;
    int64_t offset = w->slab->segments[w->segment].offset;
    for (int i = 0; i < opt->class->moments; i++)
        m[i] = gr__slab_piece(opt->moments[i], offset, w->ndim, w->shape);
    gr_dense_update update = {.x = x, .dy = call->d_out[0], .w = w, .y = args->relu ? call->out[0] : NULL,
                              .db = call->d_in[B], .want_dx = x->wants_grad};
    gr_tensor *dx = opt->class->dense_step(opt, &update, m);
    (void)node;
    return dx && (!x->wants_grad || deliver(x, dx));
}

bool gr_minimize(gr_optimizer *opt, gr_tensor *loss)
{
    if (!opt || !loss || !gr__update_begin(opt))
        return false;
    claim(opt);
    return gr__backward(loss, &(gr_backward_hook){.user = opt, .run = run}) && gr__update_finish(opt);
}
