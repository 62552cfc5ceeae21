/*
 * init.c - first values of parameters, drawn on the host from (seed, parameter, element): the same on every device and
 * for every number of threads.
 */
#include <math.h>
#include <stdlib.h>

#include "core/op.h"
#include "core/parallel.h"
#include "core/philox.h"
#include "nn/module.h"

/* Half the width of a uniform distribution. Glorot and Bengio 2010, equation 16; He et al. 2015, equation 10. */
static double width_of(const gr_parameter_plan *plan)
{
    switch (plan->init) {
    case GR_GLOROT_UNIFORM:
        return sqrt(6.0 / (double)(plan->fan_in + plan->fan_out));
    case GR_HE_UNIFORM:
        return sqrt(6.0 / (double)plan->fan_in);
    case GR_KAIMING_NORMAL: /* not a limit: the standard deviation; He et al. 2015, equation 14 */
        return sqrt(2.0 / (double)plan->fan_out);
    case GR_DIRAC:           /* of the filters that pass no channel on */
    case GR_KAIMING_UNIFORM: /* PyTorch passes a = sqrt(5): sqrt(6 / ((1 + 5) fan_in)) */
        return sqrt(1.0 / (double)plan->fan_in);
    default:
        return 0;
    }
}

/*
 * Elements uploaded at a time, and drawn by one chunk of the parallel loop. Slices of some megabytes may stay with the
 * process as the top of its heap.
 */
enum { SLICE = 1 << 17, CHUNK = 1 << 13 };

typedef struct {
    uint64_t seed;
    uint32_t index;
    const gr_parameter_plan *plan;
    double width;
    int64_t first, count; /* elements of this slice */
    bool wide;
    void *values; /* float or double [count] */
} slice_job;

/* Value j of the four that one block of Philox gives. A normal one takes two words (Box and Muller 1958). */
static double value_of(const slice_job *job, const uint32_t bits[4], int64_t j)
{
    double u = (double)(bits[j] >> 8) * 0x1p-24; /* in [0, 1) */
    if (job->plan->init == GR_ONES)
        return 1;
    if (job->plan->init != GR_KAIMING_NORMAL)
        return job->width * (2 * u - 1);
    double radius = sqrt(-2 * log(1 - (double)(bits[j / 2 * 2] >> 8) * 0x1p-24));
    double angle = 2 * acos(-1.0) * (double)(bits[j / 2 * 2 + 1] >> 8) * 0x1p-24;
    return job->width * radius * (j % 2 ? sin(angle) : cos(angle));
}

/* The value of element i of the parameter, where drawn is what it would be by chance. */
static double placed_value(const gr_parameter_plan *plan, int64_t i, double drawn)
{
    const int64_t R = plan->shape[1], S = plan->shape[2], C = plan->shape[3]; /* of filters [K,R,S,C] */
    if (plan->init != GR_DIRAC || i / (R * S * C) >= C)
        return drawn;
    const int64_t k = i / (R * S * C), middle = (R / 2) * S + S / 2;
    return i % (R * S * C) == middle * C + k;
}

static void draw_chunk(void *arg, int64_t chunk)
{
    slice_job *job = arg;
    int64_t end = (chunk + 1) * CHUNK < job->count ? (chunk + 1) * CHUNK : job->count;
    for (int64_t i = chunk * CHUNK; i < end; i += 4) {
        uint64_t block = (uint64_t)(job->first + i) / 4; /* slices and chunks begin at multiples of 4 */
        uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), job->index, GR_RNG_INIT};
        uint32_t key[2] = {(uint32_t)job->seed, (uint32_t)(job->seed >> 32)}, bits[4];
        gr__philox(counter, key, bits);
        for (int64_t j = i; j < i + 4 && j < end; j++) {
            double value = placed_value(job->plan, job->first + j, value_of(job, bits, j - i));
            if (job->wide)
                ((double *)job->values)[j] = value;
            else
                ((float *)job->values)[j] = (float)value;
        }
    }
}

bool gr__initialise(gr_context *ctx, const gr_parameter_plan *plan, int index, gr_tensor *value)
{
    double width = width_of(plan);
    if (plan->init == GR_ZEROS || !value->data) /* memory is zero already; or there is none, in a dry run */
        return gr_ok(ctx);
    int64_t longest = value->count < SLICE ? value->count : SLICE;
    size_t size = gr_type_size(value->type);
    void *values = gr__calloc(ctx, (size_t)longest, size);
    gr_exec exec = {.pool = ctx->device->pool};
    for (int64_t first = 0; values && first < value->count && gr_ok(ctx); first += SLICE) {
        int64_t count = value->count - first < SLICE ? value->count - first : SLICE;
        slice_job job = {ctx->options.seed, (uint32_t)index, plan, width, first, count, value->type == GR_F64, values};
        int64_t chunks = (count + CHUNK - 1) / CHUNK;
        if (exec.pool)
            gr_parallel_for(&exec, chunks, draw_chunk, &job);
        else
            for (int64_t i = 0; i < chunks; i++)
                draw_chunk(&job, i);
        if (!ctx->device->upload(ctx->device, (char *)value->data + (size_t)first * size, values, (size_t)count * size))
            gr__fail(ctx, GR_DEVICE_FAULT, "device %s failed while %s was initialised", ctx->device->name, plan->name);
    }
    free(values);
    return gr_ok(ctx);
}
