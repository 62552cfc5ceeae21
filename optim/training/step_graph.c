/* step_graph.c - see step_graph.h. */
#include "optim/training/step_graph.h"

#include <string.h>

#include "amp/scaler.h"
#include "core/precision.h"
#include "nn/module.h"

static const void *address(const gr_tensor *t)
{
    return t ? t->data : NULL;
}

static gr_step_key key_of(const gr_optimizer *opt, const gr_batch *batch)
{
    gr_step_key key;
    memset(&key, 0, sizeof key); /* keys are compared as bytes */
    memcpy(&key.opt, opt, sizeof key.opt);
    key.opt.lr = 0;
    key.opt.updates = 0;
    key.opt.skips = 0;
    key.x = address(batch->x);
    key.y = address(batch->y);
    key.weight = address(batch->weight);
    key.rows = batch->n;
    key.memory = opt->ctx->frees;
    return key;
}

/* The entry of this key, a fresh one if need be; *fresh: nothing has run with it yet. */
static gr_step_graph *find(gr_step_graphs *g, gr_context *ctx, const gr_step_key *key, bool *fresh)
{
    for (int i = 0; i < GR__STEP_GRAPHS; i++)
        if (memcmp(&g->entry[i].key, key, sizeof *key) == 0) {
            *fresh = false;
            return &g->entry[i];
        }
    gr_step_graph *e = &g->entry[g->next];
    g->next = (g->next + 1) % GR__STEP_GRAPHS;
    if (e->graph)
        ctx->device->graph_close(ctx->device, e->graph);
    *e = (gr_step_graph){.graph = NULL};
    memcpy(&e->key, key, sizeof *key);
    *fresh = true;
    return e;
}

/* Runs the step without doing it. The step state stays as it was, here and on the device. False: recorded. */
static bool capture(gr_step_graph *e, gr_optimizer *opt, const gr_batch *batch,
                    bool (*step)(void *user, const gr_batch *batch), void *user)
{
    gr_context *ctx = opt->ctx;
    gr_device *d = ctx->device;
    const gr_step_state before = ctx->state;
    const int64_t updates = opt->updates;
    if (!d->capture_begin(d))
        return gr__device_failed(ctx,
                                 "an update was written down as a graph; to do without, ask for no_graph (--no-graph)");
    ctx->capturing = true;
    const bool done = step(user, batch);
    ctx->capturing = false;
    e->graph = d->capture_end(d);
    e->draws = ctx->state.draws - before.draws;
    e->halves_stale = opt->net->parameters->slab->halves_stale;
    ctx->state = before;
    opt->updates = updates;
    if (done && !e->graph)
        gr__device_failed(ctx, "an update was written down as a graph; to do without, ask for no_graph (--no-graph)");
    return done && e->graph;
}

/* What the step does on the host comes before and after it. */
static bool replay(gr_step_graph *e, gr_optimizer *opt)
{
    gr_context *ctx = opt->ctx;
    gr_device *d = ctx->device;
    if (!gr__update_begin(opt))
        return false;
    if (!d->replay(d, e->graph))
        return gr__device_failed(ctx, "the graph of an update was launched");
    opt->net->parameters->slab->halves_stale = e->halves_stale;
    ctx->state.draws += e->draws;
    ctx->state.inv_weight = 0;
    return gr__state_write(ctx);
}

bool gr__step_graphs_run(gr_step_graphs *g, gr_optimizer *opt, const gr_batch *batch,
                         bool (*step)(void *user, const gr_batch *batch), void *user)
{
    if (!gr__scaler_take_turn(opt->ctx, &opt->skips))
        return false;
    const gr_step_key key = key_of(opt, batch);
    bool fresh;
    gr_step_graph *e = find(g, opt->ctx, &key, &fresh);
    if (fresh) {
        const bool done = step(user, batch);
        const gr_step_key now = key_of(opt, batch); /* the first update of all makes moments */
        memcpy(&e->key, &now, sizeof now);
        return done;
    }
    if (!opt->ctx->mixed->refresh_halves(opt->net->parameters->slab)) /* weights may have come from elsewhere */
        return false;
    if (!e->graph) {
        if (!capture(e, opt, batch, step, user))
            return false;
        g->captured++;
    }
    g->replayed++;
    return replay(e, opt);
}

void gr__step_graphs_close(gr_step_graphs *g, gr_context *ctx)
{
    for (int i = 0; i < GR__STEP_GRAPHS; i++)
        if (g->entry[i].graph)
            ctx->device->graph_close(ctx->device, g->entry[i].graph);
    *g = (gr_step_graphs){.next = 0};
}
