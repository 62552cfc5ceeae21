/* bench.c - gradus bench: operations against the limits of this machine, across batch sizes. */
#include <stdlib.h>
#include <string.h>

#include "bench/bench_ladder.h"
#include "bench/bench_report.h"
#include "commands.h"
#include "settings/choices.h"
#include "terminal/progress.h"
#include "terminal/system.h"
#include "terminal/text.h"
#include "terminal/values.h"
#include "train/row.h"

enum { MAX_OPERANDS = 64, MAX_BATCHES = 32 };

/*
 * Float sums of up to a million products stay below a hundredth of this share of the largest number; a wrong index, a
 * missed element or a lost gradient lies far above it. Inputs are quarters and eighths, which tf32 holds; but dY,
 * scaled by a share of the batch size, may be rounded by up to 2^-11 of it.
 */
static const double tolerance = 1e-4, tolerance_tf32 = 1e-3;

static const precision_choice float_precisions[] = {
    {"fp32", GR_PRECISION_FP32}, {"tf32", GR_PRECISION_TF32}, {NULL, GR_PRECISION_DEFAULT}};

typedef struct {
    const char *batches;
    choice device, precision;
    int64_t threads, memory_limit;
    double seconds;
    bool list, json, counters, ladder;
} bench_settings;

#define AT(field) offsetof(bench_settings, field)

static const option bench_options[] = {
    TEXT_OPTION("batch", "LIST", AT(batches), "batch sizes (default: 4,16,64,256,1024)"),
    CHOICE_OPTION("device", "NAME", AT(device), device_names, DEVICE_HELP),
    CHOICE_OPTION("precision", "NAME", AT(precision), float_precisions,
                  "fp32, or on cuda and simt tf32: products of floats, rounded as tensor cores multiply them "
                  "(default: fp32, on ref fp64)"),
    COUNT_OPTION("threads", "N", AT(threads), 1, 1024, "(default: all this process may use)"),
    POSITIVE_OPTION(
        "seconds", "X", AT(seconds),
        "repeat each pass ten times and for this long, unless it takes 15 times as long in all (default: 0.2)"),
    BYTES_OPTION("memory-limit", AT(memory_limit),
                 "leave out what needs more than this, such as 512M or 2G (default: the memory that is free)"),
    FLAG_OPTION("list", AT(list), "name the operations and the shapes they are measured with"),
    FLAG_OPTION(
        "counters", AT(counters),
        "in place of times: what CUDA kernels ask for, counted by --device simt in the build that checks accesses"),
    FLAG_OPTION("ladder", AT(ladder),
                "gemm alone: the rungs of kernels/cuda/ladder, one matrix product with one idea more each; times on "
                "--device cuda, counters on simt"),
    FLAG_OPTION("json", AT(json), "print a line of JSON for every measurement"),
    {0},
};

/* A run of the command. */
typedef struct {
    const bench_settings *s;
    int64_t batches[MAX_BATCHES];
    int n_batches;
    bench_report report;
    progress progress;
    int code; /* the first thing that went wrong */
} bench_run;

/* --- what is asked ------------------------------------------------------------------------------------------------ */

static bool has_case(const char *op)
{
    for (const bench_case *c = bench_cases(); c->op; c++)
        if (strcmp(c->op, op) == 0)
            return true;
    return false;
}

static bool chosen(const char *const *operands, const char *op)
{
    if (!operands[0])
        return true;
    for (; *operands; operands++)
        if (strcmp(*operands, op) == 0)
            return true;
    return false;
}

static int check_operands(const char *const *operands)
{
    const char *names[256] = {NULL};
    for (int i = 0; i < gr_op_count() && i < 255; i++)
        names[i] = gr_op_name(i);
    for (; *operands; operands++) {
        int i = 0;
        while (names[i] && strcmp(names[i], *operands) != 0)
            i++;
        const char *near = nearest(*operands, (name_list)NAMES(names));
        if (!names[i])
            return complain(GR_USAGE, "bench", "there is no operation \"%s\"%s%s%s; gradus bench --list names them",
                            *operands, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
        if (!has_case(*operands))
            return complain(GR_USAGE, "bench", "there is no shape to measure %s with", *operands);
    }
    return 0;
}

static int parse_batches(const char *list, bench_run *run)
{
    char word[32];
    run->n_batches = parse_counts(list, 1, 1 << 20, run->batches, MAX_BATCHES, word);
    if (run->n_batches == -1)
        return complain(GR_USAGE, "bench",
                        "--batch: \"%s\" is no whole number from 1 to 1048576; give a list such as 16,128", word);
    if (run->n_batches == -2)
        return complain(GR_USAGE, "bench", "--batch: more than %d of them", MAX_BATCHES);
    return 0;
}

static void list_cases(const char *const *operands)
{
    char shapes[256];
    for (int i = 0; i < gr_op_count(); i++) {
        const char *op = gr_op_name(i);
        if (!chosen(operands, op))
            continue;
        printf("%s%s\n", op, has_case(op) ? "" : "\n  no shape yet");
        for (const bench_case *c = bench_cases(); c->op; c++)
            if (strcmp(c->op, op) == 0)
                printf("  %s: %s\n", c->about, bench_shapes(c, shapes, sizeof shapes));
    }
}

/* --- one measurement ---------------------------------------------------------------------------------------------- */

static bool in_tf32(const bench_run *run)
{
    const choice *p = &run->s->precision;
    return p->given && float_precisions[p->value].precision == GR_PRECISION_TF32;
}

static gr_options context_options(const bench_run *run, bool plan_only)
{
    const choice *p = &run->s->precision, *device = &run->s->device;
    const gr_precision precision = p->given ? float_precisions[p->value].precision : GR_PRECISION_DEFAULT;
    return (gr_options){.device = device->given ? device_names[device->value] : NULL,
                        .threads = (int)run->s->threads,
                        .precision = precision,
                        .plan_only = plan_only};
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
    gr_options here = context_options(run, true), reference = {.device = "ref", .plan_only = true};
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
    gr_options here = context_options(run, false);
    bench_trial t;
    bench_answer answer = {0};
    const char *what = "";
    const double allowed = in_tf32(run) ? tolerance_tf32 : tolerance;
    if (!bench_open(&t, line->c, &here, line->batch, line->checked) || !bench_ask(&t, &answer)) {
        note_failure(run, &t, line);
    } else if ((line->error = bench_compare(&answer, reference, &what)) <= allowed) {
        bench_forget(&answer); /* the memory is better used by the caches of the system */
        memcpy(line->count, t.count, sizeof line->count);
        if (!run->s->counters && !bench_measure(&t, run->s->seconds, line->passes))
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

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static void run_case(bench_run *run, const bench_case *c)
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

static int measure_machine(bench_run *run)
{
    gr_options here = context_options(run, false);
    gr_context *ctx = gr_open(&here);
    if (run->s->counters && gr_ok(ctx) && !gr_counts(ctx)) {
        gr_close(ctx);
        return complain(GR_USAGE, "bench",
                        "--counters: only --device simt counts, in the build that checks every access: cmake "
                        "--preset check && cmake --build --preset check, then build/check/gradus");
    }
    if (!run->s->counters)
        run->report.ceilings = gr_measure_ceilings(ctx);
    snprintf(run->report.device, sizeof run->report.device, "%s", gr_device_name(ctx));
    snprintf(run->report.isa, sizeof run->report.isa, "%s", gr_isa_name(ctx));
    snprintf(run->report.precision, sizeof run->report.precision, "%s", gr_precision_name(ctx));
    run->report.threads = gr_thread_count(ctx);
    int code = gr_ok(ctx) ? 0 : complain_of(ctx, "bench");
    gr_close(ctx);
    return code;
}

/* Figures from a machine that is busy are worth little: say so. */
static void warn_if_busy(void)
{
    double load;
    if (getloadavg(&load, 1) == 1 && load > 0.5)
        fprintf(stderr, "gradus bench: other programs keep this machine busy (load %.1f): the figures will be low\n",
                load);
}

static int run_ladder(const bench_run *run, const char *const *operands)
{
    const bench_settings *s = run->s;
    if (!operands[0] || strcmp(operands[0], "gemm") != 0 || operands[1] || s->batches || s->counters || s->list ||
        s->precision.given)
        return complain(GR_USAGE, "bench",
                        "--ladder is of the product of matrices and has shapes of its own: gradus bench gemm "
                        "--ladder, with --device, --seconds, --memory-limit and --json");
    gr_options options = context_options(run, false);
    options.memory_limit = s->memory_limit;
    return bench_ladder(&options, s->seconds, s->json);
}

static int run_bench(int argc, char **argv)
{
    bench_settings s = {.seconds = 0.2};
    const char *operands[MAX_OPERANDS + 1] = {NULL};
    options_end end = options_parse(&bench_command, &s, argc, argv, operands);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    bench_run run = {.s = &s, .report = {.json = s.json, .counters = s.counters}, .progress = progress_open()};
    if (s.ladder)
        return run_ladder(&run, operands);
    int code = check_operands(operands);
    if (code == 0)
        code = parse_batches(s.batches ? s.batches : "4,16,64,256,1024", &run);
    if (code)
        return code;
    if (s.list) {
        list_cases(operands);
        return 0;
    }
    if (!s.counters)
        warn_if_busy();
    if ((code = measure_machine(&run)) != 0)
        return code;
    report_machine(&run.report);
    for (const bench_case *c = bench_cases(); c->op; c++)
        if (chosen(operands, c->op))
            run_case(&run, c);
    report_legend(&run.report);
    return run.code;
}

static const char *operand_name(int i)
{
    return i < gr_op_count() ? gr_op_name(i) : NULL;
}

static const option_group groups[] = {{"Options", bench_options, NULL, 0}, {0}};

const gradus_command bench_command = {
    .name = "bench",
    .purpose = "operations against the limits of this machine, across batch sizes",
    .usage = "bench [OP...] [options]\nbench --list\nbench gemm --ladder --device cuda|simt",
    .operand = "OP",
    .operands = MAX_OPERANDS,
    .operand_name = operand_name,
    .about =
        "Measure operations (default: all), forward and backward, at several batch sizes, beside what this machine "
        "allows. A result is compared with the reference first; one that is wrong is not timed, and the exit code is "
        "7.",
    .examples = "bench conv2d dense --batch 16,128\nbench --threads 1\nbench relu --json",
    .groups = groups,
    .run = run_bench,
};
