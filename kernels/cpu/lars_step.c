/* lars_step.c - LARS over one layer's weights; formulas as in kernels/ref/lars_step.c. */
#include "kernels/cpu/elements.h"
#include "kernels/cpu/squares.h"

typedef struct {
    int64_t count;
    float lr, momentum, ratio, decay;
    float *p, *v;   /* [count] */
    const float *g; /* [count] */
} step_job;

INLINE void step(const void *arg, int64_t i, int64_t n)
{
    const step_job *job = arg;
    const vec p = vec_load_n(job->p + i, n);
    const vec v = job->momentum * vec_load_n(job->v + i, n) + job->ratio * (vec_load_n(job->g + i, n) + job->decay * p);
    vec_store_n(job->v + i, v, n);
    vec_store_n(job->p + i, p - job->lr * v, n);
}

static void step_chunk(void *arg, int64_t chunk)
{
    const step_job *job = arg;
    each_vector(step, job, job->count, chunk);
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
    step_job job = {.count = count,
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
    gr_parallel_for(call->exec, ceil_div(count, CHUNK), step_chunk, &job);
}
