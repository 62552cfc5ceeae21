/* confirm.c - one real update of the largest batch, with evaluation: what it takes beside what was planned. */
#include "find_batch/finder.h"
#include "terminal/memory.h"
#include "terminal/system.h"

/* What the context and the process took; the data set is there before. */
static void update_once(const resolved *run, gr_context *ctx, gr_split split, confirmation *out)
{
    const bool counted = memory_peak_restart();
    const int64_t before = memory_resident();
    const double begin = now_seconds();
    const learner l = learner_make(run, ctx, &split);
    const gr_fit_options fit = resolved_fit_updates(run, 1);
    gr_fit(l.net, l.opt, split, &fit);
    *out = (confirmation){.peak = gr_memory_use(ctx).peak,
                          .grown = counted && before >= 0 ? memory_peak() - before : -1,
                          .seconds = now_seconds() - begin};
}

int confirm_fits(const finder *f, const fits *found, confirmation *out)
{
    const resolved run = finder_run(f, found->batch, 0);
    gr_context *ctx = resolved_open(&run, false);
    source data;
    int code = gr_ok(ctx) ? finder_read(f, ctx, &run, &data) : complain_of(ctx, f->command);
    if (code == 0) {
        progress_bar(f->progress, "one update", 0, "of the largest batch");
        update_once(&run, ctx, data.split, out);
        progress_clear(f->progress);
        /* at a rate unfit for this size numbers may go bad: its memory was taken all the same */
        if (!gr_ok(ctx) && gr_error_code(ctx) != GR_NUMERIC)
            code = complain_of(ctx, f->command);
    }
    gr_close(ctx);
    return code;
}
