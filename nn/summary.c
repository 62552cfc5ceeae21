/* summary.c - what a model is made of and what it costs, read off the tape of a dry step. */
#include <assert.h>
#include <string.h>

#include "nn/module.h"

enum { SAMPLES = 2 }; /* in the dry step: batch normalisation refuses a single one */

/* Floating-point operations of a node's backward pass with every gradient that training will want. */
static double backward_flops(const gr_node *node)
{
    gr_call call = node->call;
    for (int i = 0; i < node->op->n_in; i++)
        if ((node->op->in[i].flags & GR_SLOT_GRAD) && call.in[i] && call.in[i]->wants_grad)
            call.d_in[i] = call.in[i];
    call.d_out[0] = call.out[0];
    return node->alias ? 0 : node->op->flops(&call, GR_BACKWARD);
}

/* Rows are nodes of the tape, so the node that made an input is its row. x, the model's input, was made by none. */
static void list_inputs(const gr_node *node, const gr_tensor *x, gr_summary_row *row)
{
    static_assert((int)GR_SUMMARY_INPUTS >= (int)GR_MAX_IN, "room for all inputs of an operation");
    for (int i = 0; i < node->call.n_in; i++) {
        const gr_tensor *t = gr__origin(node->call.in[i]);
        if (t && (t->node >= 0 || t == x))
            row->input[row->inputs++] = t->node;
    }
}

static gr_summary_row describe(const gr_node *node, const gr_tensor *x)
{
    gr_summary_row row = {.name = node->module, .op = node->op->name, .ndim = node->call.out[0]->ndim - 1};
    list_inputs(node, x, &row);
    for (int i = 0; i < row.ndim; i++)
        row.shape[i] = node->call.out[0]->shape[i + 1];
    for (int i = 0; i < node->call.n_in; i++)
        if (node->call.in[i] && gr__origin(node->call.in[i])->slab)
            row.parameters += node->call.in[i]->count;
    for (int i = 0; i < node->call.n_out && !node->alias; i++)
        if (node->call.out[i] &&
            node->call.out[i]->ndim > 1) /* what is kept per channel does not grow with the batch */
            row.bytes += (int64_t)gr__bytes(node->call.out[i]) / SAMPLES;
    row.flops_forward = node->alias ? 0 : node->op->flops(&node->call, GR_FORWARD) / SAMPLES;
    row.flops_backward = backward_flops(node) / SAMPLES;
    return row;
}

int gr_summary(gr_module *net, gr_summary_row *rows, int max)
{
    gr_context *ctx = net ? net->ctx : NULL;
    if (!gr_ok(ctx))
        return -1;
    if (!net->parameters) {
        gr__fail(ctx, GR_USAGE, "gr_summary: the model is not built; call gr_module_build first");
        return -1;
    }
    int64_t shape[GR_MAX_DIMS] = {SAMPLES};
    memcpy(shape + 1, net->parameters->input.dim, sizeof net->parameters->input.dim);
    gr_plan_begin(ctx);
    bool recorded = gr_record(ctx, true);
    int n = 0;
    gr_tensor *x = gr__tensor_step(ctx, gr_real(ctx), net->parameters->input.ndim + 1, shape);
    if (gr_forward(net, x))
        for (; n < ctx->n_nodes && n < max; n++)
            rows[n] = describe(ctx->nodes[n], x);
    gr_record(ctx, recorded);
    gr_step_end(ctx); /* not gr_plan_end: nothing is to be reserved */
    ctx->planning = ctx->options.plan_only;
    return gr_ok(ctx) ? n : -1;
}
