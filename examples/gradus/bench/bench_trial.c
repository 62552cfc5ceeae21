/* bench_trial.c - see bench_trial.h. */
#include "bench/bench_trial.h"

#include <string.h>

#include "bench/bench_caches.h"
#include "bench/bench_draw.h"
#include "bench/bench_pin.h"

static void on_kernel(void *user, const gr_trace_event *e)
{
    bench_trial *t = user;
    int pass = strcmp(e->pass, "backward") == 0;
    if (e->kind != GR_TRACE_KERNEL || strcmp(e->op, t->c->op) != 0 || t->filling)
        return;
    t->now[pass] += e->end - e->begin;
    t->flops[pass] += e->flops;
    t->count[pass] = e->count;
}

/*
 * Kernels of updates read the learning rate from the step's state, which an optimizer's step writes: one of one weight.
 */
static void set_learning_rate(gr_context *ctx)
{
    gr_module *net = gr_dense_layer(ctx, &(gr_dense_options){.units = 1});
    gr_tensor *x = gr_tensor_new(ctx, gr_real(ctx), 2, (int64_t[]){1, 1});
    gr_optimizer *opt = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.01});
    gr_backward(gr_forward(net, x));
    gr_optimizer_step(opt);
    gr_step_end(ctx);
}

/* Activations are halves under mixed precision and so are their gradients, parameters and theirs are floats. */
static gr_tensor *make_input(gr_context *ctx, const bench_input *input)
{
    const gr_type type = input->classes      ? GR_I32
                         : input->bytes      ? GR_U8
                         : input->activation ? gr_compute_type(ctx)
                                             : gr_real(ctx);
    if (!input->gradient)
        return gr_tensor_new(ctx, type, input->ndim, input->shape);
    return (input->activation ? gr_activation : gr_variable)(ctx, input->ndim, input->shape);
}

static bool make_inputs(bench_trial *t)
{
    for (int i = 0; i < t->row.n; i++)
        t->in[i] = make_input(t->ctx, &t->row.inputs[i]);
    if (t->way.cold)
        t->other = gr_tensor_new(t->ctx, gr_real(t->ctx), 1,
                                 (int64_t[]){caches_to_fill() / (int64_t)gr_type_size(gr_real(t->ctx))});
    return gr_ok(t->ctx);
}

static bool fill_inputs(bench_trial *t)
{
    bool done = true;
    for (int i = 0; i < t->row.n && done; i++)
        done = bench_fill(t->in[i], &t->row.inputs[i], i, t->batch, t->period);
    bench_input dy = {.has_batch = gr_count(t->dy) > 1, .outside = true};
    return done && (!t->dy || bench_fill(t->dy, &dy, BENCH_INPUTS, t->batch, t->period));
}

static bool wants_gradient(const bench_trial *t)
{
    for (int i = 0; i < t->row.n; i++)
        if (t->row.inputs[i].gradient)
            return true;
    return false;
}

/* Reads other memory, with all threads and on any device: what lay in the caches has to leave them. */
static void fill_caches(bench_trial *t)
{
    t->filling = true;
    if (t->other)
        gr_sum(t->other);
    t->filling = false;
}

static void step(bench_trial *t, bool backward)
{
    t->now[0] = t->now[1] = t->flops[0] = t->flops[1] = 0;
    gr_clear_gradients(t->ctx);
    fill_caches(t);
    t->result = bench_call(t->c, &t->row, t->ctx, t->in);
    if (t->result && !t->dy && wants_gradient(t)) { /* the first time, between gr_plan_begin and gr_plan_end */
        int64_t shape[GR_MAX_DIMS];
        for (int i = 0; i < gr_ndim(t->result); i++)
            shape[i] = gr_dim(t->result, i);
        t->dy = gr_tensor_new(t->ctx, gr_type_of(t->result), gr_ndim(t->result), shape);
    }
    if (t->dy && backward) {
        fill_caches(t);
        gr_backward_from(t->result, t->dy);
    }
}

void bench_step(bench_trial *t)
{
    step(t, true);
}

void bench_repeat(bench_trial *t)
{
    step(t, t->way.part != BENCH_FORWARD);
    gr_step_end(t->ctx);
}

/* Leaves the gradients that are asked for. */
static void choose_gradients(bench_row *row, bench_part part)
{
    for (int i = 0; i < row->n; i++)
        row->inputs[i].gradient &= part == BENCH_DX ? i == 0 : part == BENCH_DW ? i > 0 : true;
}

bool bench_has_part(const bench_case *c, bench_part part)
{
    const bench_row row = bench_read(c, 1);
    bool first = row.inputs[0].gradient, others = false;
    for (int i = 1; i < row.n; i++)
        others |= row.inputs[i].gradient;
    const bool has[] = {true, !c->update, first || others, first, others, c->update};
    return has[part];
}

bool bench_shows(const bench_trial *t, int pass)
{
    if (t->way.part == BENCH_ALL)
        return true;
    return pass == (t->way.part != BENCH_FORWARD && t->way.part != BENCH_UPDATE);
}

bool bench_open(bench_trial *t, const bench_case *c, bench_way way, const gr_options *options, int64_t batch,
                int64_t period)
{
    *t = (bench_trial){.c = c, .way = way, .batch = batch, .period = period, .ctx = gr_open(options)};
    t->row = bench_read(c, batch);
    choose_gradients(&t->row, way.part);
    if (!make_inputs(t))
        return false;
    set_learning_rate(t->ctx);
    if (way.pinned)
        pin_threads();
    gr_trace(t->ctx, on_kernel, t);
    gr_plan_begin(t->ctx);
    bench_step(t);
    gr_plan_end(t->ctx);
    return gr_ok(t->ctx) && (options->plan_only || fill_inputs(t));
}

void bench_close(bench_trial *t)
{
    gr_close(t->ctx);
    t->ctx = NULL;
    if (t->way.pinned)
        unpin_thread();
}

int64_t bench_staging(const bench_trial *t)
{
    int64_t most = gr_count(t->dy);
    for (int i = 0; i < t->row.n; i++)
        most = gr_count(t->in[i]) > most ? gr_count(t->in[i]) : most;
    return 2 * most * (int64_t)sizeof(double); /* a tensor as it is, and as double */
}

int64_t bench_period(const bench_trial *planned)
{
    const double most = 5e8, per_element = 10; /* operations; what an element costs beyond them */
    double work = planned->flops[0] + planned->flops[1] + per_element * (double)gr_count(planned->dy);
    for (int i = 0; i < planned->row.n; i++)
        work += planned->row.inputs[i].has_batch ? per_element * (double)gr_count(planned->in[i]) : 0;
    int64_t period = planned->batch;
    while (period > 1 && (planned->batch % period || work * (double)period / (double)planned->batch > most))
        period--;
    return period;
}
