/* bench_scaling_trial.c - see bench_scaling_trial.h. */
#include "bench/bench_scaling_trial.h"

#include <pthread.h>
#include <stdio.h>

#include "bench/bench_judge.h"
#include "find_batch/finder.h"
#include "terminal/complain.h"
#include "terminal/system.h"

enum { WARM_UP = 2, LEAST = 3, MOST = 200 /* updates: left out, timed */, SUMS = 9 };

typedef struct {
    const resolved *run;
    gr_group *group;
    double enough; /* seconds */
    pthread_t thread;
    int code;
    double seconds[MOST]; /* of an update */
    int n, seen;
    double last, begin; /* on the run's clock */
    scaling_trial *out; /* rank 0's; else NULL */
} scaling_rank;

static bool on_update(void *user, const gr_progress *p)
{
    scaling_rank *r = user;
    if (p->epoch_end)
        return true;
    r->seen++;
    if (r->seen > WARM_UP)
        r->seconds[r->n++] = p->seconds - r->last;
    else
        r->begin = p->seconds;
    if (r->seen == WARM_UP + LEAST)
        r->out->loss = p->loss;
    r->last = p->seconds;
    return r->n < LEAST || (r->n < MOST && p->seconds - r->begin < r->enough);
}

/* Seconds of a sum of count elements over the ranks: the middle one. */
static double time_sum(scaling_rank *r, gr_context *ctx, int64_t count)
{
    double seconds[SUMS];
    gr_tensor *t = gr_tensor_new(ctx, gr_real(ctx), 1, &count);
    for (int i = 0; i < SUMS && gr_ok(ctx); i++) {
        gr_group_barrier(r->group);
        const double begin = now_seconds();
        gr_group_sum(r->group, t);
        seconds[i] = now_seconds() - begin;
    }
    return gr_ok(ctx) ? median_of(seconds, SUMS) : 0;
}

static int64_t parameters_of(gr_module *net)
{
    int64_t count = 0;
    for (int i = 0; i < gr_parameter_count(net); i++)
        count += gr_count(gr_parameter(net, i));
    return count;
}

static void train(scaling_rank *r, gr_context *ctx)
{
    const gr_split split = {.train = source_built_in(ctx, r->run, 2 * r->run->batch, 1)};
    const learner l = learner_make(r->run, ctx, &split);
    gr_fit_options fit = resolved_fit_updates(r->run, WARM_UP + MOST);
    fit.metrics_every = 1; /* the host waits for every update: it is they that are timed */
    fit.report = r->out ? on_update : NULL;
    fit.user = r;
    fit.group = r->group;
    gr_fit(l.net, l.opt, split, &fit);
    const int64_t count = gr_ok(ctx) ? parameters_of(l.net) : 0;
    const double small = time_sum(r, ctx, 2), large = time_sum(r, ctx, count);
    if (!gr_ok(ctx) || !r->out)
        return;
    r->out->small = small;
    r->out->large = large;
    r->out->bytes = (double)count * (double)gr_type_size(gr_real(ctx));
    r->out->seconds = median_of(r->seconds, r->n);
    snprintf(r->out->device, sizeof r->out->device, "%s", gr_device_name(ctx));
    snprintf(r->out->isa, sizeof r->out->isa, "%s", gr_isa_name(ctx));
}

static void *run_rank(void *user)
{
    scaling_rank *r = user;
    if (!r->out)
        complain_quietly();
    const gr_options options = settings_context(&r->run->asked, false);
    gr_context *ctx = gr_open(&options);
    if (gr_ok(ctx))
        train(r, ctx);
    r->code = gr_ok(ctx) ? 0 : complain_of(ctx, "bench scaling");
    if (r->code)
        gr_group_fail(r->group, gr_error_text(ctx));
    gr_close(ctx);
    gr_group_close(r->group);
    return NULL;
}

int scaling_trial_run(const resolved *run, int ranks, double seconds, scaling_trial *out)
{
    static scaling_rank all[GR_MAX_RANKS];
    gr_group *groups[GR_MAX_RANKS];
    *out = (scaling_trial){.seconds = 0};
    if (!gr_group_threads(ranks, 0, groups))
        return complain(GR_NO_MEMORY, "bench scaling", "out of host memory for %d ranks", ranks);
    int started = 1;
    for (int i = 0; i < ranks; i++)
        all[i] = (scaling_rank){.run = run, .group = groups[i], .enough = seconds, .out = i ? NULL : out};
    for (; started < ranks; started++)
        if (pthread_create(&all[started].thread, NULL, run_rank, &all[started]) != 0)
            break;
    for (int i = started; i < ranks; i++) {
        gr_group_fail(groups[i], "the system gives no memory or no thread for it");
        gr_group_close(groups[i]);
    }
    run_rank(&all[0]);
    int code = all[0].code;
    for (int i = 1; i < started; i++) {
        pthread_join(all[i].thread, NULL);
        if (code == GR_DEVICE_FAULT && all[i].code) /* rank 0 has ended because another has */
            code = all[i].code;
    }
    return code == GR_DEVICE_FAULT && started < ranks ? GR_NO_MEMORY : code;
}
