/* site.c - where measuring happens: a context with the run's data, a network in it. */
#include "find_batch/finder.h"
#include "terminal/complain.h"

int64_t finder_wish(const finder *f)
{
    return f->asked->batch == BATCH_AUTO ? 0 : f->asked->batch;
}

resolved finder_run(const finder *f, int64_t batch, int64_t micro_batch)
{
    settings s = *f->asked;
    s.batch = batch;
    s.micro_batch = micro_batch ? micro_batch : s.micro_batch;
    return settings_resolve(&s, f->recipe);
}

int finder_read(const finder *f, gr_context *ctx, const resolved *run, source *data)
{
    if (!f->told)
        return source_open(ctx, run, f->command, data);
    complain_quietly();
    const int code = source_open(ctx, run, f->command, data);
    complain_aloud();
    return code ? complain((gr_code)code, f->command, "%s", complaint_kept()) : 0;
}

int site_open(const finder *f, site *at)
{
    resolved run = finder_run(f, f->recipe->batch, 0);
    run.asked.memory_limit = 0; /* of the run to come: what is measured here keeps the memory of several batch sizes */
    *at = (site){.ctx = resolved_open(&run, false)};
    return gr_ok(at->ctx) ? finder_read(f, at->ctx, &run, &at->data) : complain_of(at->ctx, f->command);
}

void site_close(site *at)
{
    gr_close(at->ctx);
    at->ctx = NULL;
}

learner learner_make(const resolved *run, gr_context *ctx, const gr_split *split)
{
    gr_module *net = resolved_built_net(run, ctx, split->train);
    return (learner){net, resolved_optimizer(run, ctx, net)};
}
