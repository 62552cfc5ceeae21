/*
 * normalise.c - u8 images to floats: y = (x/255 - mean[c]) / std[c].
 *
 * A pixel has 256 values, so the formula is evaluated once for each of them and channel, in double; an image is then a
 * look-up, with the same bits on every instruction set.
 */
#include "kernels/cpu/cpu.h"

enum { LEVELS = 256, CHANNELS = 4, CHUNK = 8192 /* pixels */ };

typedef struct {
    float value[CHANNELS][LEVELS];
    const uint8_t *x; /* [pixels][C] */
    float *y;         /* [pixels][C] */
    int64_t pixels, c;
} normalise_job;

static void normalise_chunk(void *arg, int64_t chunk)
{
    const normalise_job *job = arg;
    const int64_t end = min64(job->pixels, (chunk + 1) * CHUNK) * job->c;
    for (int64_t i = chunk * CHUNK * job->c; i < end; i += job->c)
        for (int64_t c = 0; c < job->c; c++)
            job->y[i + c] = job->value[c][job->x[i + c]];
}

void GR_CPU(normalise_forward)(const gr_call *call)
{
    const gr_normalise_args *args = call->options;
    const gr_tensor *x = call->in[0];
    normalise_job job = {
        .x = gr__u8(x), .y = gr__f32(call->out[0]), .c = x->shape[3], .pixels = x->count / x->shape[3]};
    for (int64_t c = 0; c < job.c; c++)
        for (int i = 0; i < LEVELS; i++)
            job.value[c][i] = (float)((i / 255.0 - (double)args->mean[c]) / (double)args->std[c]);
    gr_parallel_for(call->exec, ceil_div(job.pixels, CHUNK), normalise_chunk, &job);
}
