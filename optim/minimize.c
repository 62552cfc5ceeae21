/*
 * minimize.c - backward and update in one. A dense layer's weights are read, differentiated and updated in a single
 * sweep, so a gradient as large as the weights is never stored.
 *
 * On the CPU the step over other large weights follows their layer's backward pass at once: they and their gradient are
 * in the caches then, and one layer's gradient after the other's lies in the same memory. Where kernels have a queue
 * that would be a launch more for each.
 *
 * Under a loss scale the update must wait until it is known that no gradient of the model has overflowed. Then the
 * layer's x and dY are kept, and its weights are updated behind the backward pass. Their gradient is not there to be
 * looked at, and need not be: a sum of products of halves cannot leave the range of floats, so x^T dZ is finite if and
 * only if x and dZ are; and dZ is if and only if its column sums, the gradient of the bias, are.
 */
#include "amp/scaler.h"
#include "kernels/ops/kernels.h"
#include "nn/module.h"
#include "optim/optimizer.h"

enum { X = 0, W = 1, B = 2 };           /* input slots of dense; W is that of a convolution's weights, too */
enum { LARGE = 1 << 16 /* weights */ }; /* that are worth a step of their own */

/* How many inputs of nodes on the tape are t or its half copy. */
static int uses(const gr_context *ctx, const gr_tensor *t)
{
    int n = 0;
    for (int i = 0; i < ctx->n_nodes; i++)
        for (int j = 0; j < ctx->nodes[i]->call.n_in; j++)
            n += gr__origin(ctx->nodes[i]->call.in[j]) == t;
    return n;
}

/* Whether t is a trained parameter of this model, and its only gradient in this update is that of one call. */
static bool sole_use(const gr_optimizer *opt, const gr_tensor *t)
{
    return t->slab == opt->net->parameters->slab && t->wants_grad && gr__lr_scale(opt, t->segment) == 1 &&
           !(opt->later && opt->later[t->segment]) && !t->grad_written && uses(opt->ctx, t) == 1;
}

/* Whether this is so of a dense layer's weights and bias. */
static bool sole_uses(const gr_optimizer *opt, const gr_call *c)
{
    for (int slot = W; slot <= B; slot++) {
        const gr_tensor *t = gr__origin(c->in[slot]);
        if (t && (!sole_use(opt, t) || gr__decay_scale(opt, t->segment) != 1))
            return false;
    }
    return true;
}

/* Not where somebody else reads the gradients. */
static bool gradients_are_read(const gr_optimizer *opt)
{
    return opt->clip > 0 || opt->rho > 0;
}

/* Halves are left to kernels that take them: widened as a whole they would need more memory than the gradient. */
static bool takes_halves(const gr_context *ctx, const gr_call *dense)
{
    const gr_call update = {.in = {dense->in[X], dense->out[0], gr__origin(dense->in[W])}};
    const int updates[] = {GR_OP_dense_sgd, GR_OP_dense_adam};
    for (int i = 0; i < 2; i++) {
        const gr_kernel *kernel = &ctx->device->kernels[updates[i]];
        if (!kernel->halves || !kernel->halves(&update, GR_FORWARD))
            return false;
    }
    return true;
}

static bool can_fuse(const gr_optimizer *opt, const gr_node *node)
{
    const gr_call *c = &node->call;
    if (!opt->class->dense_step || node->op->id != GR_OP_dense || !sole_uses(opt, c) || (!c->in[B] && opt->ctx->scaler))
        return false;
    if (gr__is_half(c->in[X]) && !takes_halves(opt->ctx, c))
        return false;
    return !c->in[X]->wants_grad ||
           c->in[X]->node >= 0; /* the gradient of a leaf x must be stored: leave that to the engine */
}

/* Whether the step over a node's weights may follow its backward pass. */
static bool can_follow(const gr_optimizer *opt, const gr_node *node)
{
    const int op = node->op->id;
    const bool weighted = op == GR_OP_conv2d || op == GR_OP_conv2d_relu_max_pool || op == GR_OP_dense;
    if (!weighted || !opt->ctx->device->pool || opt->ctx->scaler || opt->inner > 1)
        return false;
    const gr_tensor *w = gr__origin(node->call.in[W]);
    return w->count >= LARGE && sole_use(opt, w);
}

/* Which of a node's gradients are taken over; 0: none. */
static unsigned claimed_of(const gr_optimizer *opt, const gr_node *node)
{
    return can_fuse(opt, node) ? (opt->ctx->scaler ? 1u << W : 1u << X | 1u << W) : can_follow(opt, node) ? 1u << W : 0;
}

/* Marks the nodes to take over, and tells their weights that they need no gradient buffer. */
static void claim(gr_optimizer *opt)
{
    gr_context *ctx = opt->ctx;
    for (int i = 0; i < ctx->n_nodes && !gradients_are_read(opt); i++) {
        gr_node *node = ctx->nodes[i];
        node->claimed = claimed_of(opt, node);
        if (!node->claimed)
            continue;
        gr_tensor *w = gr__origin(node->call.in[W]);
        if (!w->grad)
            w->slab->segments[w->segment].no_gradient = true;
    }
}

/* dx becomes, or is added to, the gradient of x. */
static bool accumulate_dx(gr_tensor *x, gr_tensor *dx)
{
    if (!x->grad) {
        x->grad = dx;
        return true;
    }
    const bool added = gr__add_to(x->grad, dx);
    gr__release(dx);
    return added;
}

/* A name under which t's storage stays until the step ends, whatever the nodes that made it release. NULL: recorded. */
static gr_tensor *retain(gr_tensor *t)
{
    const gr_context *ctx = t->ctx;
    gr_tensor *kept = gr__tensor_alias(t, t->ndim, t->shape);
    while (t->lifetime == GR__ALIAS && t->node >= 0 && ctx->nodes[t->node]->alias)
        t = ctx->nodes[t->node]->call.in[0];
    if (kept)
        gr__transfer_storage(t, kept);
    return kept;
}

/* The gradients of x and the bias; what the update will need is kept. */
static bool defer_update(gr_optimizer *opt, gr_node *node, gr_call *call)
{
    const gr_dense_args *args = call->options;
    gr_fused *f = &opt->fused[gr__origin(call->in[W])->segment];
    if (!gr__run_kernel(opt->ctx, node->op, call, GR_BACKWARD))
        return false;
    f->x = retain(call->in[X]);
    f->dy = retain(call->d_out[0]);
    f->y = args->relu ? retain(call->out[0]) : NULL;
    return gr_ok(opt->ctx) && gr__scaler_inspect(f->x);
}

/* All gradients of a node, and the step over its weights by theirs. */
static bool run_and_step(gr_optimizer *opt, gr_node *node, gr_call *call)
{
    const gr_tensor *w = gr__origin(call->in[W]);
    gr_tensor *g = gr__tensor_step(opt->ctx, w->type, 1, &w->count);
    if (!g)
        return false;
    call->d_in[W] = g;
    call->accumulate &= ~(1u << W);
    const bool good = gr__run_kernel(opt->ctx, node->op, call, GR_BACKWARD) && gr__step_segment(opt, w->segment, g);
    call->d_in[W] = NULL;
    gr__release(g);
    return good;
}

/* The backward pass of one claimed node. */
static bool run(void *user, gr_node *node, gr_call *call)
{
    gr_optimizer *opt = user;
    gr_tensor *x = call->in[X];
    const gr_dense_args *args = call->options;
    if (opt->ctx->scaler)
        return defer_update(opt, node, call);
    if (!(node->claimed >> X & 1))
        return run_and_step(opt, node, call);
    gr_dense_update update = {.x = x,
                              .dy = call->d_out[0],
                              .w = gr__origin(call->in[W]),
                              .y = args->relu ? call->out[0] : NULL,
                              .db = call->d_in[B],
                              .want_dx = x->wants_grad};
    gr_tensor *dx = gr__dense_step(opt, &update);
    return dx && (!x->wants_grad || accumulate_dx(x, dx));
}

bool gr__minimize(gr_optimizer *opt, gr_tensor *loss)
{
    if (!gr__update_begin(opt))
        return false;
    claim(opt);
    return gr__backward(loss, &(gr_backward_hook){.user = opt, .run = run}) && gr__update_finish(opt);
}

bool gr_minimize(gr_optimizer *opt, gr_tensor *loss)
{
    return opt && gr__alive(loss, "gr_minimize") && gr_ok(opt->ctx) && gr__optimizer_prepare(opt) &&
           gr__minimize(opt, loss);
}
