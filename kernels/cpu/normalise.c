/*
 * normalise.c - u8 images to floats: y = (x/255 - mean[c]) / std[c].
 *
 * A pixel has 256 values, so the formula is evaluated once for each of them and channel, in double; an image is then a
 * look-up, with the same bits on every instruction set. A straight line in double goes through nearly all such values:
 * where it goes through all of them, vectors follow the line instead of looking up.
 */
#include "kernels/cpu/cpu.h"

enum { LEVELS = 256, CHANNELS = 4, CHUNK = 8192 /* pixels */ };

typedef struct {
    float value[CHANNELS][LEVELS];
    double slope[CHANNELS * VL], offset[CHANNELS * VL]; /* the lines of the numbers of VL pixels side by side */
    bool straight;                                      /* every value lies on its channel's line */
    bool stream;                                        /* y past the caches */
    const uint8_t *x;                                   /* [pixels][C] */
    float *y;                                           /* [pixels][C] */
    int64_t pixels, c;
} normalise_job;

/* Whether the line of a channel goes through all of its values. */
static bool is_straight(const normalise_job *job, int64_t c)
{
    uint8_t levels[LEVELS];
    double slope[VL], offset[VL];
    for (int i = 0; i < LEVELS; i++)
        levels[i] = (uint8_t)i;
    for (int i = 0; i < VL; i++) {
        slope[i] = job->slope[c];
        offset[i] = job->offset[c];
    }
    for (int i = 0; i < LEVELS; i += VL) {
        const vec v = vec_on_lines(levels + i, slope, offset);
        if (memcmp(&v, job->value[c] + i, sizeof v) != 0)
            return false;
    }
    return true;
}

static void normalise_chunk(void *arg, int64_t chunk)
{
    const normalise_job *job = arg;
    const int64_t end = min64(job->pixels, (chunk + 1) * CHUNK) * job->c, side = job->c * VL;
    int64_t i = chunk * CHUNK * job->c;
    for (; job->straight && i + side <= end; i += side)
        for (int64_t at = 0; at < side; at += VL) {
            const vec v = vec_on_lines(job->x + i + at, job->slope + at, job->offset + at);
            if (job->stream)
                vec_stream(job->y + i + at, v);
            else
                vec_store(job->y + i + at, v);
        }
    for (; i < end; i += job->c)
        for (int64_t c = 0; c < job->c; c++)
            job->y[i + c] = job->value[c][job->x[i + c]];
}

void GR_CPU(normalise_forward)(const gr_call *call)
{
    const gr_normalise_args *args = call->options;
    const gr_tensor *x = call->in[0];
    normalise_job job = {.straight = true,
                         .x = gr__u8(x),
                         .y = gr__f32(call->out[0]),
                         .c = x->shape[3],
                         .pixels = x->count / x->shape[3]};
    for (int64_t i = 0; i < job.c * VL; i++) {
        const double mean = (double)args->mean[i % job.c], std = (double)args->std[i % job.c];
        job.slope[i] = 1 / (255 * std);
        job.offset[i] = -mean / std;
    }
    for (int64_t c = 0; c < job.c; c++) {
        for (int i = 0; i < LEVELS; i++)
            job.value[c][i] = (float)((i / 255.0 - (double)args->mean[c]) / (double)args->std[c]);
        job.straight = job.straight && is_straight(&job, c);
    }
    job.stream = goes_past_caches(job.y, x->count, job.c * VL);
    gr_parallel_for(call->exec, ceil_div(job.pixels, CHUNK), normalise_chunk, &job);
}
