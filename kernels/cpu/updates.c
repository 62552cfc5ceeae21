/*
 * updates.c - steps of optimizers over a slab, in chunks of elements; formulas as in kernels/ref/updates.c.
 */
#include "kernels/cpu/adam.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/squares.h"

INLINE void sgd(const void *arg, int64_t i, int64_t n)
{
    const gr_call *call = arg;
    const gr_sgd_args *args = call->options;
    float *p = gr__f32(call->in[0]) + i;       /* [count] */
    const float *g = gr__f32(call->in[1]) + i; /* [count] */
    const float lr = (float)call->exec->state->lr, decay = (float)args->weight_decay;
    const vec p_old = vec_load_n(p, n);
    vec_store_n(p, p_old - lr * (vec_load_n(g, n) + decay * p_old), n);
}

static void sgd_chunk(void *arg, int64_t chunk)
{
    const gr_call *call = arg;
    each_vector(sgd, call, call->in[0]->count, chunk);
}

void GR_CPU(sgd_step_forward)(const gr_call *call)
{
    if (!call->exec->state->skip)
        gr_parallel_for(call->exec, ceil_div(call->in[0]->count, CHUNK), sgd_chunk, (void *)call);
}

typedef struct {
    int64_t count;
    float lr, momentum, coupled, decoupled;
    bool nesterov;
    float *p, *v;   /* [count] */
    const float *g; /* [count] */
} momentum_job;

INLINE void momentum(const void *arg, int64_t i, int64_t n)
{
    const momentum_job *job = arg;
    const vec p = vec_load_n(job->p + i, n);
    const vec grad = vec_load_n(job->g + i, n) + job->coupled * p;
    const vec v = job->momentum * vec_load_n(job->v + i, n) + grad;
    vec_store_n(job->v + i, v, n);
    vec_store_n(job->p + i, p - job->lr * ((job->nesterov ? grad + job->momentum * v : v) + job->decoupled * p), n);
}

static void momentum_chunk(void *arg, int64_t chunk)
{
    const momentum_job *job = arg;
    each_vector(momentum, job, job->count, chunk);
}

void GR_CPU(momentum_step_forward)(const gr_call *call)
{
    const gr_momentum_args *a = call->options;
    const gr_step_state *state = call->exec->state;
    const float decay = (float)a->weight_decay;
    momentum_job job = {.count = call->in[0]->count,
                        .lr = (float)state->lr,
                        .momentum = (float)a->momentum,
                        .coupled = a->decoupled ? 0 : decay,
                        .decoupled = a->decoupled ? decay : 0,
                        .nesterov = a->nesterov,
                        .p = gr__f32(call->in[0]),
                        .g = gr__f32(call->in[1]),
                        .v = gr__f32(call->in[2])};
    if (!state->skip)
        gr_parallel_for(call->exec, ceil_div(job.count, CHUNK), momentum_chunk, &job);
}

typedef struct {
    adam_numbers numbers;
    int64_t count;
    float *p, *m, *v; /* [count] */
    const float *g;   /* [count] */
} adam_job;

static void adam_chunk(void *arg, int64_t chunk)
{
    const adam_job *job = arg;
    const int64_t i = chunk * CHUNK;
    adam_row(&job->numbers, job->g + i, job->p + i, job->m + i, job->v + i, min64(CHUNK, job->count - i));
}

void GR_CPU(adam_step_forward)(const gr_call *call)
{
    const gr_step_state *state = call->exec->state;
    if (state->skip)
        return;
    adam_job job = {adam_at(call->options, state), call->in[0]->count,   gr__f32(call->in[0]),
                    gr__f32(call->in[2]),          gr__f32(call->in[3]), gr__f32(call->in[1])};
    gr_parallel_for(call->exec, ceil_div(job.count, CHUNK), adam_chunk, &job);
}

typedef struct {
    int64_t count;
    float lr, momentum, ratio, decay;
    float *p, *v;   /* [count] */
    const float *g; /* [count] */
} lars_job;

INLINE void lars(const void *arg, int64_t i, int64_t n)
{
    const lars_job *job = arg;
    const vec p = vec_load_n(job->p + i, n);
    const vec v = job->momentum * vec_load_n(job->v + i, n) + job->ratio * (vec_load_n(job->g + i, n) + job->decay * p);
    vec_store_n(job->v + i, v, n);
    vec_store_n(job->p + i, p - job->lr * v, n);
}

static void lars_chunk(void *arg, int64_t chunk)
{
    const lars_job *job = arg;
    each_vector(lars, job, job->count, chunk);
}

size_t GR_CPU(lars_step_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return squares_bytes(call->in[0]->count);
}

void GR_CPU(lars_step_forward)(const gr_call *call)
{
    const gr_lars_args *a = call->options;
    const gr_step_state *state = call->exec->state;
    const int64_t count = call->in[0]->count;
    lars_job job = {.count = count,
                    .lr = (float)state->lr,
                    .momentum = (float)a->momentum,
                    .decay = (float)a->weight_decay,
                    .p = gr__f32(call->in[0]),
                    .g = gr__f32(call->in[1]),
                    .v = gr__f32(call->in[2])};
    if (state->skip)
        return;
    const double weights = sqrt(sum_of_squares(call->exec, job.p, count, call->exec->scratch));
    const double gradient = sqrt(sum_of_squares(call->exec, job.g, count, call->exec->scratch));
    const double adapted = a->trust * weights / (gradient + a->weight_decay * weights + a->epsilon);
    job.ratio = weights == 0 || gradient == 0 ? 1 : (float)adapted;
    gr_parallel_for(call->exec, ceil_div(count, CHUNK), lars_chunk, &job);
}

INLINE void prox(const void *arg, int64_t i, int64_t n)
{
    const gr_call *call = arg;
    const gr_prox_args *args = call->options;
    float *p = gr__f32(call->in[0]) + i, *anchor = gr__f32(call->in[2]) + i; /* [count] */
    const float *g = gr__f32(call->in[1]) + i;                               /* [count] */
    const float lr = (float)call->exec->state->lr, gamma = (float)args->gamma;
    const vec at = vec_load_n(p, n), from = args->first ? at : vec_load_n(anchor, n);
    if (args->first)
        vec_store_n(anchor, at, n);
    vec_store_n(p, call->exec->state->skip ? from : at - lr * (vec_load_n(g, n) + gamma * (at - from)), n);
}

static void prox_chunk(void *arg, int64_t chunk)
{
    const gr_call *call = arg;
    each_vector(prox, call, call->in[0]->count, chunk);
}

void GR_CPU(prox_step_forward)(const gr_call *call)
{
    gr_parallel_for(call->exec, ceil_div(call->in[0]->count, CHUNK), prox_chunk, (void *)call);
}

typedef struct {
    int64_t count;
    float factor;
    float *p, *saved; /* [count] */
    const float *g;   /* [count] */
} climb_job;

INLINE void climb(const void *arg, int64_t i, int64_t n)
{
    const climb_job *job = arg;
    const vec at = vec_load_n(job->p + i, n);
    vec_store_n(job->saved + i, at, n);
    vec_store_n(job->p + i, at + job->factor * vec_load_n(job->g + i, n), n);
}

static void climb_chunk(void *arg, int64_t chunk)
{
    const climb_job *job = arg;
    each_vector(climb, job, job->count, chunk);
}

void GR_CPU(sam_climb_forward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    climb_job job = {.count = call->in[0]->count,
                     .factor = (float)(args->factor / ((double)gr__f32(call->in[2])[0] + 1e-12)),
                     .p = gr__f32(call->in[0]),
                     .g = gr__f32(call->in[1]),
                     .saved = gr__f32(call->in[3])};
    gr_parallel_for(call->exec, ceil_div(job.count, CHUNK), climb_chunk, &job);
}

typedef struct {
    int64_t count;
    float share;
    float *average; /* [count] */
    const float *p; /* [count] */
} ema_job;

INLINE void ema(const void *arg, int64_t i, int64_t n)
{
    const ema_job *job = arg;
    const vec mean = vec_load_n(job->average + i, n);
    vec_store_n(job->average + i, mean + job->share * (vec_load_n(job->p + i, n) - mean), n);
}

static void ema_chunk(void *arg, int64_t chunk)
{
    const ema_job *job = arg;
    each_vector(ema, job, job->count, chunk);
}

void GR_CPU(ema_step_forward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    const gr_step_state *state = call->exec->state;
    const double t = (double)state->update - state->skipped;
    ema_job job = {.count = call->in[0]->count,
                   .share = (float)(1 - fmin(args->factor, (t - 1) / (t + 8))),
                   .average = gr__f32(call->in[0]),
                   .p = gr__f32(call->in[1])};
    if (!state->skip)
        gr_parallel_for(call->exec, ceil_div(job.count, CHUNK), ema_chunk, &job);
}

typedef struct {
    int64_t count;
    float momentum;
    bool skip;
    float *v, *d;   /* [count] */
    const float *g; /* [count] */
} nesterov_job;

INLINE void nesterov(const void *arg, int64_t i, int64_t n)
{
    const nesterov_job *job = arg;
    const vec g = vec_load_n(job->g + i, n), v = job->momentum * vec_load_n(job->v + i, n) + g;
    if (!job->skip)
        vec_store_n(job->v + i, v, n);
    vec_store_n(job->d + i, g + job->momentum * v, n);
}

static void nesterov_chunk(void *arg, int64_t chunk)
{
    const nesterov_job *job = arg;
    each_vector(nesterov, job, job->count, chunk);
}

void GR_CPU(nesterov_step_forward)(const gr_call *call)
{
    nesterov_job job = {.count = call->in[0]->count,
                        .momentum = (float)((const gr_factor_args *)call->options)->factor,
                        .skip = call->exec->state->skip != 0,
                        .v = gr__f32(call->in[0]),
                        .d = gr__f32(call->out[0]),
                        .g = gr__f32(call->in[1])};
    gr_parallel_for(call->exec, ceil_div(job.count, CHUNK), nesterov_chunk, &job);
}

typedef struct {
    int64_t count;
    float factor;
    float *x; /* [count] */
} unit_job;

INLINE void unit(const void *arg, int64_t i, int64_t n)
{
    const unit_job *job = arg;
    vec_store_n(job->x + i, job->factor * vec_load_n(job->x + i, n), n);
}

static void unit_chunk(void *arg, int64_t chunk)
{
    const unit_job *job = arg;
    each_vector(unit, job, job->count, chunk);
}

void GR_CPU(unit_norm_forward)(const gr_call *call)
{
    const double length = ((const gr_factor_args *)call->options)->factor;
    unit_job job = {.count = call->in[0]->count,
                    .factor = (float)(length / ((double)gr__f32(call->in[1])[0] + 1e-7)),
                    .x = gr__f32(call->in[0])};
    if (!call->exec->state->skip)
        gr_parallel_for(call->exec, ceil_div(job.count, CHUNK), unit_chunk, &job);
}
