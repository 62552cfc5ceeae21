/*
 * dense_update.c - dense_sgd and dense_adam: dX and db of a dense layer and the update of w in one sweep over w.
 *
 * x, dy, y and dX may be halves, w and the moments are floats. Halves are widened a block of features at a time, as in
 * dense_half.c: such a block is columns of x and dX and rows of w that no other block touches.
 */
#include "kernels/cpu/dense_backward.h"
#include "kernels/cpu/dense_half.h"

enum { X, DY, W, Y };

static dense_job job_of(const gr_call *call, dense_change change)
{
    const gr_tensor *w = call->in[W];
    return (dense_job){.n = call->in[X]->shape[0],
                       .in = w->shape[0],
                       .out = w->shape[1],
                       .x = gr__f32(call->in[X]),
                       .dy = gr__f32(call->in[DY]),
                       .y = gr__f32(call->in[Y]),
                       .w = gr__f32(w),
                       .dx = gr__f32(call->out[0]),
                       .db = gr__f32(call->out[1]),
                       .change = change};
}

/* What stands for the halves of a call. */
typedef struct {
    int64_t block;            /* features */
    half_window x, dy, y, dx; /* dy and y whole, x and dx a block of features */
    void *inner;              /* scratch of the sweep */
    size_t bytes;
} wide_plan;

static wide_plan plan_of(const gr_call *call, dense_use use, void *base)
{
    const int64_t N = call->in[X]->shape[0], in = call->in[W]->shape[0], out = call->in[W]->shape[1];
    wide_plan p = {.block = half_block(in, 2 * N)};
    scratch s = {.base = base};
    p.x = (half_window){.half = call->in[X], .wide = float_matrix(N, p.block, scratch_take(&s, N * p.block))};
    p.dx = (half_window){.half = call->out[0], .wide = float_matrix(N, p.block, scratch_take(&s, N * p.block))};
    p.dy = (half_window){.half = call->in[DY], .wide = float_matrix(N, out, scratch_take(&s, N * out))};
    p.y = (half_window){.half = call->in[Y], .wide = float_matrix(N, out, scratch_take(&s, N * out))};
    p.inner = scratch_take(&s, 0);
    p.bytes = s.used + dense_backward_scratch(N, p.block, out, use); /* a shorter last block needs no more */
    return p;
}

/* The part of a job that is about features first .. first + block, with floats for its halves. */
static dense_job part_of_job(const dense_job *job, wide_plan *p, int64_t first)
{
    dense_job part = *job;
    const int64_t at = first * job->out;
    part.in = min64(p->block, job->in - first);
    p->x.first = p->dx.first = first;
    p->x.wide = float_matrix(job->n, part.in, gr__f32(&p->x.wide));
    p->dx.wide = float_matrix(job->n, part.in, gr__f32(&p->dx.wide));
    part.x = gr__f32(&p->x.wide);
    part.dx = p->dx.half ? gr__f32(&p->dx.wide) : NULL;
    part.dy = gr__f32(&p->dy.wide);
    part.y = p->y.half ? gr__f32(&p->y.wide) : NULL;
    part.w += at;
    part.change.m = part.change.m ? part.change.m + at : NULL;
    part.change.v = part.change.v ? part.change.v + at : NULL;
    part.db = first == 0 ? part.db : NULL;
    return part;
}

static void run_wide(const gr_call *call, const dense_job *job, dense_use use)
{
    wide_plan p = plan_of(call, use, call->exec->scratch);
    gr_exec exec = *call->exec;
    exec.scratch = p.inner;
    half_window_convert(call->exec, &p.dy, false);
    if (p.y.half)
        half_window_convert(call->exec, &p.y, false);
    for (int64_t first = 0; first < job->in; first += p.block) {
        const dense_job part = part_of_job(job, &p, first);
        half_window_convert(call->exec, &p.x, false);
        dense_backward_run(&exec, &part);
        if (part.dx)
            half_window_convert(call->exec, &p.dx, true);
    }
}

static void run(const gr_call *call, const dense_job *job, dense_use use)
{
    if (gr__is_half(call->in[X]))
        run_wide(call, job, use);
    else
        dense_backward_run(call->exec, job);
}

void GR_CPU(dense_sgd_forward)(const gr_call *call)
{
    const dense_job job = job_of(call, dense_change_by_sgd(call));
    run(call, &job, DENSE_SGD);
}

void GR_CPU(dense_adam_forward)(const gr_call *call)
{
    const dense_job job = job_of(call, dense_change_by_adam(call));
    run(call, &job, DENSE_ADAM);
}

static size_t scratch_of(const gr_call *call, dense_use use)
{
    const gr_tensor *w = call->in[W];
    return gr__is_half(call->in[X]) ? plan_of(call, use, NULL).bytes
                                    : dense_backward_scratch(call->in[X]->shape[0], w->shape[0], w->shape[1], use);
}

size_t GR_CPU(dense_sgd_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return scratch_of(call, DENSE_SGD);
}

size_t GR_CPU(dense_adam_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return scratch_of(call, DENSE_ADAM);
}

bool GR_CPU(dense_sgd_halves)(const gr_call *call, gr_pass pass)
{
    return GR_CPU(dense_halves)(call, pass);
}

bool GR_CPU(dense_adam_halves)(const gr_call *call, gr_pass pass)
{
    return GR_CPU(dense_halves)(call, pass);
}
