/* bench_measure.c - see bench_measure.h. */
#include "bench/bench_measure.h"

#include <string.h>

#include "bench/bench_answer.h"
#include "terminal/memory.h"
#include "terminal/text.h"

/*
 * Float sums of up to a million products stay below a hundredth of this share of the largest number; a wrong index, a
 * missed element or a lost gradient lies far above it. Inputs are quarters and eighths, which tf32 holds; but dY,
 * scaled by a share of the batch size, may be rounded by up to 2^-11 of it.
 */
static const double tolerance = 1e-4, tolerance_tf32 = 1e-3;

/* Records what stands in the trial's context (or that the host is out of memory) and why the line has no numbers. */
static void note_failure(bench_run *run, const bench_trial *t, bench_line *line)
{
    gr_code code = gr_ok(t->ctx) ? GR_NO_MEMORY : gr_error_code(t->ctx);
    snprintf(line->skipped, sizeof line->skipped, "%s", gr_ok(t->ctx) ? "out of host memory" : gr_error_text(t->ctx));
    if (code != GR_NO_MEMORY && run->code == 0)
        run->code = code;
}

/* Plans the case without taking memory: does it fit, and how much of the batch can the reference compute? */
static bool plan(bench_run *run, bench_line *line)
{
    gr_options here = bench_context(run->s, true), reference = {.device = "ref", .plan_only = true};
    bench_trial t, ref;
    bool planned = bench_open(&t, line->c, &here, line->batch, line->batch);
    line->checked = planned ? bench_period(&t) : 0;
    int64_t need = planned ? gr_memory_use(t.ctx).peak + bench_staging(&t) : 0;
    if (!planned)
        note_failure(run, &t, line);
    bench_close(&t);
    if (!planned)
        return false;
    if (bench_open(&ref, line->c, &reference, line->checked, line->checked))
        need += gr_memory_use(ref.ctx).peak;
    bench_close(&ref);
    int64_t limit = run->s->memory_limit ? run->s->memory_limit : memory_available();
    char needed[32], there[32];
    if (need > limit)
        snprintf(line->skipped, sizeof line->skipped, "left out: it needs %s, %s %s", bytes_text((double)need, needed),
                 bytes_text((double)limit, there), run->s->memory_limit ? "are allowed" : "are free");
    return need <= limit;
}

/* The reference's answer for so many samples, kept in *known from batch size to batch size of one case. */
static bool ask_reference(bench_run *run, bench_line *line, bench_answer *known, int64_t *known_samples)
{
    if (*known_samples == line->checked)
        return true;
    bench_forget(known);
    *known_samples = 0;
    bench_trial ref;
    bool done = bench_open(&ref, line->c, &(gr_options){.device = "ref"}, line->checked, line->checked) &&
                bench_ask(&ref, known);
    if (done)
        *known_samples = line->checked;
    else
        note_failure(run, &ref, line);
    bench_close(&ref);
    return done;
}

/* Compares, then times. */
static void measure(bench_run *run, bench_line *line, const bench_answer *reference)
{
    gr_options here = bench_context(run->s, false);
    bench_trial t;
    bench_answer answer = {0};
    const char *what = "";
    const double allowed = bench_in_tf32(run->s) ? tolerance_tf32 : tolerance;
    if (!bench_open(&t, line->c, &here, line->batch, line->checked) || !bench_ask(&t, &answer)) {
        note_failure(run, &t, line);
    } else if ((line->error = bench_compare(&answer, reference, &what)) <= allowed) {
        bench_forget(&answer); /* the memory is better used by the caches of the system */
        memcpy(line->count, t.count, sizeof line->count);
        if (!run->s->counters && !bench_time(&t, run->s->seconds, line->passes))
            note_failure(run, &t, line);
    } else {
        snprintf(line->skipped, sizeof line->skipped, "WRONG: relative error %.1e in %s", line->error, what);
        progress_clear(&run->progress);
        run->code = complain(GR_DEVICE_FAULT, "bench",
                             "%s at batch size %lld: %s differs from the reference, largest relative error %.1e",
                             line->c->op, (long long)line->batch, what, line->error);
    }
    bench_forget(&answer);
    bench_close(&t);
}

void bench_measure_case(bench_run *run, const bench_case *c)
{
    bool batched = strstr(c->row, "[N");
    bench_answer reference = {0};
    int64_t known = 0;
    report_case(&run->report, c);
    for (int i = 0; i < (batched ? run->n_batches : 1); i++) {
        bench_line line = {.c = c, .batch = batched ? run->batches[i] : 1};
        char at[64];
        snprintf(at, sizeof at, "%s at batch size %lld", c->op, (long long)line.batch);
        progress_bar(&run->progress, at, (double)i / run->n_batches, "");
        if (plan(run, &line) && ask_reference(run, &line, &reference, &known))
            measure(run, &line, &reference);
        progress_clear(&run->progress);
        line.batch = batched ? line.batch : 0;
        report_line(&run->report, &line);
    }
    bench_forget(&reference);
}
