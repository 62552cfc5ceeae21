/* bench.c - gradus bench: operations against the limits of this machine, across batch sizes. */
#include <stdlib.h>
#include <string.h>

#include "bench/bench_ladder.h"
#include "bench/bench_measure.h"
#include "commands.h"
#include "train/row.h"

static void list_cases(const char *const *operands)
{
    char shapes[256];
    for (int i = 0; i < gr_op_count(); i++) {
        const char *op = gr_op_name(i);
        if (!bench_chosen(operands, op))
            continue;
        bool measured = false;
        printf("%s\n", op);
        for (const bench_case *c = bench_cases(); c->op; c++)
            if (strcmp(c->op, op) == 0) {
                printf("  %s: %s\n", c->about, bench_shapes(c, shapes, sizeof shapes));
                measured = true;
            }
        if (!measured)
            printf("  no shape yet\n");
    }
}

static int measure_machine(bench_run *run)
{
    gr_options here = bench_context(run->s, false);
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
    gr_options options = bench_context(run->s, false);
    options.memory_limit = s->memory_limit;
    return bench_ladder(&options, s->seconds, s->json);
}

static int run_bench(int argc, char **argv)
{
    bench_settings s = {.seconds = 0.2};
    const char *operands[BENCH_MAX_OPERANDS + 1] = {NULL};
    options_end end = options_parse(&bench_command, &s, argc, argv, operands);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    bench_run run = {.s = &s, .report = {.json = s.json, .counters = s.counters}, .progress = progress_open()};
    if (s.ladder)
        return run_ladder(&run, operands);
    int code = bench_check_operands(operands);
    if (code == 0)
        code = bench_parse_batches(&s, run.batches, &run.n_batches);
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
        if (bench_chosen(operands, c->op))
            bench_measure_case(&run, c);
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
    .operands = BENCH_MAX_OPERANDS,
    .operand_name = operand_name,
    .about =
        "Measure operations (default: all), forward and backward, at several batch sizes, beside what this machine "
        "allows. A result is compared with the reference first; one that is wrong is not timed, and the exit code is "
        "7.",
    .examples = "bench conv2d dense --batch 16,128\nbench --threads 1\nbench relu --json",
    .groups = groups,
    .run = run_bench,
};
