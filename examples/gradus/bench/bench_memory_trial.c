/* bench_memory_trial.c - see bench_memory_trial.h. */
#include "bench/bench_memory_trial.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench_judge.h"
#include "find_batch/finder.h"
#include "terminal/memory.h"

enum { WARM_UP = 3, LEAST = 5, MOST = 200 }; /* updates: left out, timed */

typedef struct {
    const memory_lender *lender;
    double enough;        /* seconds */
    double seconds[MOST]; /* of an update */
    int n, seen;
    double last, begin; /* on the run's clock */
    int64_t asked, system, faults;
    double loss;
} recording;

static int64_t page_faults(void)
{
    struct rusage use = {0};
    getrusage(RUSAGE_SELF, &use);
    return use.ru_minflt + use.ru_majflt;
}

static bool on_update(void *user, const gr_progress *p)
{
    recording *r = user;
    if (p->epoch_end)
        return true;
    r->seen++;
    if (r->seen > WARM_UP)
        r->seconds[r->n++] = p->seconds - r->last;
    if (r->seen == WARM_UP) {
        r->begin = p->seconds;
        r->asked = r->lender->asked;
        r->system = r->lender->system;
        r->faults = page_faults();
    }
    if (r->seen == WARM_UP + LEAST)
        r->loss = p->loss;
    r->last = p->seconds;
    return r->n < LEAST || (r->n < MOST && p->seconds - r->begin < r->enough);
}

/* What was counted since the warm-up, by the update. */
static void tell(recording *r, const gr_context *ctx, memory_trial *out)
{
    const double n = r->n;
    const gr_memory m = gr_memory_use(ctx);
    out->faults = (double)(page_faults() - r->faults) / n;
    out->asked = (double)(r->lender->asked - r->asked) / n;
    out->system = (double)(r->lender->system - r->system) / n;
    out->persistent = m.persistent;
    out->step = m.step_peak;
    out->loss = r->loss;
    out->seconds = median_of(r->seconds, r->n);
    out->threads = gr_thread_count(ctx);
    snprintf(out->device, sizeof out->device, "%s", gr_device_name(ctx));
    snprintf(out->isa, sizeof out->isa, "%s", gr_isa_name(ctx));
    snprintf(out->precision, sizeof out->precision, "%s", gr_precision_name(ctx));
}

/* Trains in ctx; the samples are there before memory is looked at. */
static void train(const resolved *run, gr_context *ctx, recording *r, memory_trial *out)
{
    const gr_split split = {.train = source_built_in(ctx, run, 2 * run->batch, 1)};
    malloc_trim(0); /* what drawing them has left would be taken again unseen */
    const bool counted = memory_peak_restart();
    const int64_t before = memory_resident();
    const learner l = learner_make(run, ctx, &split);
    gr_fit_options fit = resolved_fit_updates(run, WARM_UP + MOST);
    fit.metrics_every = 1; /* the host waits for every update: it is they that are timed */
    fit.report = on_update;
    fit.user = r;
    gr_fit(l.net, l.opt, split, &fit);
    if (!gr_ok(ctx))
        return;
    tell(r, ctx, out);
    out->grown = counted && before >= 0 ? memory_peak() - before : -1;
}

static int run_here(const resolved *run, memory_method method, double seconds, memory_trial *out)
{
    memory_lender lender = {0};
    recording r = {.lender = &lender, .enough = seconds};
    gr_options options = settings_context(&run->asked, false);
    if (method != MEMORY_PLANNED) {
        memory_lender_open(&lender, method);
        options.allocator = &lender.allocator;
    }
    gr_context *ctx = gr_open(&options);
    if (gr_ok(ctx))
        train(run, ctx, &r, out);
    const int code = gr_ok(ctx) ? 0 : complain_of(ctx, "bench memory");
    gr_close(ctx);
    memory_lender_close(&lender);
    return code;
}

/* Reads what the child tells, and its end. */
static int hear(pid_t child, int from, memory_trial *out)
{
    int status = 0;
    const bool whole = read(from, out, sizeof *out) == (ssize_t)sizeof *out;
    close(from);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        return WEXITSTATUS(status);
    if (WIFEXITED(status) && whole)
        return 0;
    return complain(GR_NO_MEMORY, "bench memory",
                    "the process of a trial was ended by a signal, as the system does where memory is short; take a "
                    "smaller --batch");
}

int memory_trial_run(const resolved *run, memory_method method, double seconds, memory_trial *out)
{
    int ends[2];
    *out = (memory_trial){.grown = -1};
    fflush(NULL);
    if (pipe(ends) != 0)
        return complain(GR_IO_ERROR, "bench memory", "no pipe to a trial: %s", strerror(errno));
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        const int code = run_here(run, method, seconds, out);
        const bool told = write(ends[1], out, sizeof *out) == (ssize_t)sizeof *out;
        fflush(stderr);
        _exit(code ? code : told ? 0 : GR_IO_ERROR);
    }
    close(ends[1]);
    if (child > 0)
        return hear(child, ends[0], out);
    close(ends[0]);
    return complain(GR_NO_MEMORY, "bench memory", "no process for a trial: %s", strerror(errno));
}
