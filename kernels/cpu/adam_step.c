/* adam_step.c - Adam over a slab; the formula is in adam.h. */
#include "kernels/cpu/adam.h"

enum { CHUNK = 16384 }; /* elements */

typedef struct {
    adam_numbers numbers;
    int64_t count;
    float *p, *m, *v; /* [count] */
    const float *g;   /* [count] */
} step_job;

static void step_chunk(void *arg, int64_t chunk)
{
    const step_job *job = arg;
    const int64_t i = chunk * CHUNK;
    adam_row(&job->numbers, job->g + i, job->p + i, job->m + i, job->v + i, min64(CHUNK, job->count - i));
}

void GR_CPU(adam_step_forward)(const gr_call *call)
{
    const gr_step_state *state = call->exec->state;
    if (state->skip)
        return;
    step_job job = {adam_at(call->options, state), call->in[0]->count,   gr__f32(call->in[0]),
                    gr__f32(call->in[2]),          gr__f32(call->in[3]), gr__f32(call->in[1])};
    gr_parallel_for(call->exec, ceil_div(job.count, CHUNK), step_chunk, &job);
}
