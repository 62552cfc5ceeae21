/* momentum_step.c - SGD with momentum over a slab; formulas as in kernels/ref/momentum_step.c. */
#include "kernels/cpu/elements.h"

typedef struct {
    int64_t count;
    float lr, momentum, coupled, decoupled;
    bool nesterov;
    float *p, *v;   /* [count] */
    const float *g; /* [count] */
} step_job;

INLINE void step(const void *arg, int64_t i, int64_t n)
{
    const step_job *job = arg;
    const vec p = vec_load_n(job->p + i, n);
    const vec grad = vec_load_n(job->g + i, n) + job->coupled * p;
    const vec v = job->momentum * vec_load_n(job->v + i, n) + grad;
    vec_store_n(job->v + i, v, n);
    vec_store_n(job->p + i, p - job->lr * ((job->nesterov ? grad + job->momentum * v : v) + job->decoupled * p), n);
}

static void step_chunk(void *arg, int64_t chunk)
{
    const step_job *job = arg;
    each_vector(step, job, job->count, chunk);
}

void GR_CPU(momentum_step_forward)(const gr_call *call)
{
    const gr_momentum_args *a = call->options;
    const gr_step_state *state = call->exec->state;
    const float decay = (float)a->weight_decay;
    step_job job = {.count = call->in[0]->count,
                    .lr = (float)state->lr,
                    .momentum = (float)a->momentum,
                    .coupled = a->decoupled ? 0 : decay,
                    .decoupled = a->decoupled ? decay : 0,
                    .nesterov = a->nesterov,
                    .p = gr__f32(call->in[0]),
                    .g = gr__f32(call->in[1]),
                    .v = gr__f32(call->in[2])};
    if (!state->skip)
        gr_parallel_for(call->exec, ceil_div(job.count, CHUNK), step_chunk, &job);
}
