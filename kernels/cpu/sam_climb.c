/* sam_climb.c - saved = p; p += rho g / (norm + 1e-12) over a slab, also in an update that is skipped. */
#include "kernels/cpu/elements.h"

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
