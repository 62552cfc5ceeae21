/* bench_measure.c - see bench_measure.h. */
#include "bench/bench_measure.h"

#include <stdlib.h>
#include <string.h>

#include "bench/bench_answer.h"
#include "terminal/memory.h"
#include "terminal/text.h"

/*
 * Float sums of up to a million products stay below a hundredth of 1e-4 of the largest number; a wrong index, a missed
 * element or a lost gradient lies far above it. Inputs are quarters and eighths, which every type holds; but dY, scaled
 * by a share of the batch size, is rounded, by up to 2^-11 of it in tf32 and fp16 and 2^-8 in bf16, as results are in
 * halves.
 */
double bench_tolerance(const gr_context *ctx)
{
    const char *precision = gr_precision_name(ctx);
    return strcmp(precision, "bf16") == 0   ? 2e-2
           : strcmp(precision, "fp16") == 0 ? 2e-3
           : strcmp(precision, "tf32") == 0 ? 1e-3
                                            : 1e-4;
}

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
    const bench_way way = bench_way_of(run->s);
    bench_trial t, ref;
    bool planned = bench_open(&t, line->c, way, &here, line->batch, line->batch);
    line->checked = planned ? bench_period(&t) : 0;
    int64_t need = planned ? gr_memory_use(t.ctx).peak + bench_staging(&t) : 0;
    if (!planned)
        note_failure(run, &t, line);
    bench_close(&t);
    if (!planned)
        return false;
    if (bench_open(&ref, line->c, (bench_way){.part = way.part}, &reference, line->checked, line->checked))
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
    const bench_way way = {.part = bench_way_of(run->s).part};
    bool done = bench_open(&ref, line->c, way, &(gr_options){.device = "ref"}, line->checked, line->checked) &&
                bench_ask(&ref, known);
    if (done)
        *known_samples = line->checked;
    else
        note_failure(run, &ref, line);
    bench_close(&ref);
    return done;
}

static void refuse_wrong(bench_run *run, bench_line *line, const char *what)
{
    snprintf(line->skipped, sizeof line->skipped, "WRONG: relative error %.1e in %s", line->error, what);
    progress_clear(&run->progress);
    run->code = complain(GR_DEVICE_FAULT, "bench",
                         "%s at batch size %lld: %s differs from the reference, largest relative error %.1e",
                         line->c->op, (long long)line->batch, what, line->error);
}

/* How far an answer is from the reference's; 0 where it is not to be checked. */
static double compare(const bench_run *run, const bench_trial *t, const bench_answer *answer,
                      const bench_answer *reference, const char **what)
{
    const double loss_scale = strcmp(gr_precision_name(t->ctx), "fp16") == 0 ? 65536 : 1; /* the one it begins with */
    return run->s->unchecked ? 0 : bench_compare(answer, reference, loss_scale, what);
}

/* Compares, then times. */
static void measure(bench_run *run, bench_line *line, const bench_answer *reference)
{
    gr_options here = bench_context(run->s, false);
    bench_trial t;
    bench_answer answer = {0};
    const char *what = "";
    if (!bench_open(&t, line->c, bench_way_of(run->s), &here, line->batch, line->checked) || !bench_ask(&t, &answer)) {
        note_failure(run, &t, line);
    } else if ((line->error = compare(run, &t, &answer, reference, &what)) <= bench_tolerance(t.ctx)) {
        bench_forget(&answer); /* the memory is better used by the caches of the system */
        memcpy(line->count, t.count, sizeof line->count);
        if (!run->s->counters && !bench_time(&t, &here, bench_pace_of(run->s), line->times))
            note_failure(run, &t, line);
    } else {
        refuse_wrong(run, line, what);
    }
    bench_forget(&answer);
    bench_close(&t);
}

/* A line at a batch size; what is known of the reference's answers goes from line to line. */
static void measure_line(bench_run *run, bench_line *line, bench_answer *reference, int64_t *known)
{
    line->times = calloc(1, sizeof *line->times);
    if (!line->times)
        run->code = complain(GR_NO_MEMORY, "bench", "out of host memory");
    else if (plan(run, line) && (run->s->unchecked || ask_reference(run, line, reference, known)))
        measure(run, line, reference);
    progress_clear(&run->progress);
    if (line->times)
        report_line(&run->report, line);
    free(line->times);
}

void bench_measure_case(bench_run *run, const bench_case *c)
{
    bool batched = strstr(c->row, "[N");
    bench_answer reference = {0};
    int64_t known = 0;
    report_case(&run->report, c);
    for (int i = 0; i < (batched ? run->n_batches : 1); i++) {
        bench_line line = {.c = c, .batch = batched ? run->batches[i] : 1, .batched = batched};
        char at[64];
        snprintf(at, sizeof at, "%s at batch size %lld", c->op, (long long)line.batch);
        progress_bar(&run->progress, at, (double)i / run->n_batches, "");
        measure_line(run, &line, &reference, &known);
    }
    bench_forget(&reference);
}
