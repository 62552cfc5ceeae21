/* planned.c - see planned.h. */
#include "find_batch/planned.h"

#include <string.h>

#include "find_batch/finder.h"
#include "terminal/memory.h"
#include "terminal/text.h"

int64_t planned_peak(const resolved *asked, const int64_t samples[3], const char *command)
{
    resolved run = *asked;
    run.asked.memory_limit = 0; /* all of it is to be known */
    gr_context *ctx = resolved_open(&run, true);
    gr_split split = source_stand_in(ctx, &run, samples);
    const learner l = learner_make(&run, ctx, &split);
    gr_fit_options fit = resolved_fit(&run);
    fit.synchronised = false; /* no other rank is here to meet: all shards are planned, one after the other */
    if (run.asked.no_evaluation)
        split.val = split.test = NULL;
    gr_fit(l.net, l.opt, split, &fit);
    const int64_t peak = gr_ok(ctx) ? gr_memory_use(ctx).peak : -(int64_t)gr_error_code(ctx);
    if (peak < 0 && command)
        complain_of(ctx, command);
    gr_close(ctx);
    return peak;
}

int planned_within_group(const gr_context *ctx, const resolved *run, const source *data, const char *command)
{
    const int64_t left = memory_of_cgroup("");
    const gr_split *parts = &data->split;
    const int64_t samples[3] = {gr_dataset_size(parts->train), gr_dataset_size(parts->val),
                                gr_dataset_size(parts->test)};
    char need[32], there[32];
    if (left == INT64_MAX || run->asked.memory_limit || strcmp(gr_device_name(ctx), "cuda") == 0)
        return 0;
    resolved known = *run;
    known.asked.classes = gr_dataset_classes(parts->train);
    const int64_t peak = planned_peak(&known, samples, command);
    if (peak <= left)
        return peak < 0 ? (int)-peak : 0;
    return complain(GR_NO_MEMORY, command,
                    "the run takes %s and the limit of the control group leaves %s: the system would kill it; take a "
                    "smaller --batch or --micro-batch, or --memory-limit to try all the same",
                    bytes_text((double)peak, need), bytes_text((double)left, there));
}
