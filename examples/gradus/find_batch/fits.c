/*
 * fits.c - the largest batch that fits. What a batch size takes is known from the run's own plan, which costs no memory
 * and no arithmetic; so nothing is tried out and nothing can crash.
 */
#include "find_batch/finder.h"

#include <string.h>

#include "find_batch/planned.h"
#include "terminal/memory.h"
#include "terminal/system.h"
#include "terminal/text.h"

/* Bytes that a run takes at its peak, evaluation included. -1: complained of. */
static int64_t plan(const finder *f, fits *found, int64_t batch, int64_t micro_batch)
{
    resolved run = finder_run(f, batch, micro_batch);
    run.asked.classes = found->classes;
    found->plans++;
    return planned_peak(&run, found->samples, f->command);
}

/*
 * The largest number from 1 to most whose plan is within the budget, and its peak: a number that fits, one that does
 * not, and the middle between them until they are neighbours. of_wish: the number is the micro-batch of a wish. 0: not
 * even 1 fits, peak is what that would take; below 0: an exit code, negated, complained of.
 */
static int64_t largest(const finder *f, fits *found, int64_t budget, int64_t most, int64_t of_wish, int64_t *peak)
{
    int64_t good = 0, bad = most + 1;
    for (int64_t n = most; bad - good > 1; n = good + (bad - good) / 2) {
        const int64_t bytes = of_wish ? plan(f, found, of_wish, n) : plan(f, found, n, 0);
        if (bytes < 0)
            return bytes;
        *(bytes <= budget ? &good : &bad) = n;
        if (bytes <= budget || n == 1)
            *peak = bytes;
    }
    return good;
}

/* --- what there is ------------------------------------------------------------------------------------------------ */

static void bound(memory_budget *m, int64_t bytes, double share, const char *whose)
{
    const int64_t part = bytes == INT64_MAX ? bytes : (int64_t)(share * (double)bytes);
    if (part < m->budget) {
        m->budget = part;
        m->binds = whose;
    }
}

static void measure_budget(const finder *f, const gr_context *ctx, memory_budget *m)
{
    gr_gpu_info gpu;
    *m = (memory_budget){.host = memory_of_host(),
                         .cgroup = memory_of_cgroup(""),
                         .gpu = INT64_MAX,
                         .limit = f->asked->memory_limit ? f->asked->memory_limit : INT64_MAX,
                         .budget = INT64_MAX,
                         .binds = "nothing"};
    const bool on_gpu = strcmp(gr_device_name(ctx), "cuda") == 0 && gr_gpu(gpu_asked(), &gpu, NULL);
    if (on_gpu) {
        m->gpu = gpu.free;
        bound(m, m->gpu, f->share, "the memory that is free on the GPU");
    } else {
        bound(m, m->host, f->share, "the memory that is free on this machine");
        bound(m, m->cgroup, f->share, "the limit of the control group");
    }
    bound(m, m->limit, 1, "--memory-limit");
}

static int nothing_fits(const finder *f, const memory_budget *m, int64_t needed)
{
    char need[32], there[32];
    return complain(GR_NO_MEMORY, f->command, "not even a batch of 1 fits: it takes %s and %s leaves %s",
                    bytes_text((double)needed, need), m->binds, bytes_text((double)m->budget, there));
}

int find_fits(const finder *f, const site *at, memory_budget *m, fits *out)
{
    const gr_split *parts = &at->data.split;
    *out = (fits){.classes = gr_dataset_classes(parts->train),
                  .samples = {gr_dataset_size(parts->train), gr_dataset_size(parts->val), gr_dataset_size(parts->test)},
                  .data = at->data.name};
    const int64_t wish = finder_wish(f), most = out->samples[0] < MAX_BATCH ? out->samples[0] : MAX_BATCH;
    if (wish > most)
        return complain(GR_USAGE, f->command, "--batch %lld: the training set has only %lld samples", (long long)wish,
                        (long long)most);
    measure_budget(f, at->ctx, m);
    out->batch = largest(f, out, m->budget, most, 0, &out->peak);
    if (out->batch <= 0)
        return out->batch < 0 ? (int)-out->batch : nothing_fits(f, m, out->peak);
    out->whole = out->batch == most;
    if (wish <= out->batch)
        return 0;
    int64_t peak;
    out->micro_batch = largest(f, out, m->budget, out->batch, wish, &peak);
    if (out->micro_batch == 0)
        return nothing_fits(f, m, peak);
    return out->micro_batch > 0 ? 0 : (int)-out->micro_batch;
}
