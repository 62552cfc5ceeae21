/* bench.c - gradus bench: operations against the limits of this machine, across batch sizes. */
#include <stdlib.h>
#include <string.h>

#include "bench/bench_against.h"
#include "bench/bench_bound.h"
#include "bench/bench_compare.h"
#include "bench/bench_csv.h"
#include "bench/bench_ladder.h"
#include "bench/bench_measure.h"
#include "bench/bench_shape.h"
#include "bench/bench_torch.h"
#include "commands.h"
#include "terminal/output.h"
#include "train/row.h"

static void list_cases(const bench_settings *s, const char *const *operands)
{
    for (int i = 0; i < gr_op_count(); i++) {
        const char *op = gr_op_name(i);
        if (!bench_chosen(operands, op))
            continue;
        bool measured = false;
        printf("%s\n", op);
        for (const bench_case *c = bench_cases(); c->op; c++)
            if (strcmp(c->op, op) == 0 && bench_wanted(s, operands, c)) {
                printf("  %s: %s\n", c->about, c->row);
                measured = true;
            }
        if (!measured)
            printf("  no shape%s\n", s->about || s->part.given ? " of those asked for" : " yet");
    }
}

/* Looks what the context is, in which everything is measured. */
static int look_at_machine(bench_run *run)
{
    gr_options here = bench_context(run->s, false);
    gr_context *ctx = gr_open(&here);
    if (run->s->counters && gr_ok(ctx) && !gr_counts(ctx)) {
        gr_close(ctx);
        return complain(GR_USAGE, "bench",
                        "--counters: only --device simt counts, in the build that checks every access: cmake "
                        "--preset check && cmake --build --preset check, then build/check/gradus");
    }
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
        fprintf(stderr,
                "gradus bench: other programs keep this machine busy (load %.1f): the figures will be low and noisy\n",
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
    return bench_ladder(&options, s->seconds > 0 ? s->seconds : 0.2, s->json);
}

/* The cases that are asked for, allocated, and how many; NULL: no memory, complained of. */
static bench_case *choose(const bench_settings *s, const char *const *operands, const bench_case *own, int *n)
{
    int most = 1;
    for (const bench_case *c = bench_cases(); c->op; c++)
        most++;
    bench_case *chosen = calloc((size_t)most, sizeof *chosen);
    *n = 0;
    if (!chosen)
        complain(GR_NO_MEMORY, "bench", "out of host memory");
    else if (own->op)
        chosen[(*n)++] = *own;
    else
        for (const bench_case *c = bench_cases(); c->op; c++)
            if (bench_wanted(s, operands, c))
                chosen[(*n)++] = *c;
    return chosen;
}

/* Measures cases[n] and tells; with --compare only what the verdicts are. */
static int measure(bench_run *run, const bench_case *cases, int n)
{
    const bench_settings *s = run->s;
    int code = s->csv ? output_check(s->csv, "bench") : 0;
    if (code)
        return code;
    json_t *before = s->compare ? bench_rows_read(s->compare, &code) : NULL;
    if (code)
        return code;
    code = look_at_machine(run);
    run->report.rows = json_array();
    run->report.silent = s->compare;
    if (code == 0) {
        report_machine(&run->report);
        for (int i = 0; i < n; i++)
            bench_measure_case(run, &cases[i]);
        report_legend(&run->report);
        code = run->code;
    }
    if (s->csv && code == 0)
        code = bench_csv_write(run->report.rows, s->csv);
    if (before && code == 0)
        code = bench_compare_rows(before, run->report.rows, s->json);
    json_decref(before);
    json_decref(run->report.rows);
    return code;
}

/* --compare A,B: nothing is measured. */
static int compare_files(const bench_settings *s)
{
    char first[3072];
    int code = 0;
    const char *second = strchr(s->compare, ',') + 1;
    snprintf(first, sizeof first, "%.*s", (int)(second - 1 - s->compare), s->compare);
    json_t *before = bench_rows_read(first, &code), *after = before ? bench_rows_read(second, &code) : NULL;
    if (code == 0)
        code = bench_compare_rows(before, after, s->json);
    json_decref(before);
    json_decref(after);
    return code;
}

static int run_cases(bench_run *run, const char *const *operands)
{
    const bench_settings *s = run->s;
    bench_case own = {0};
    int n, code = s->shape ? bench_own_case(operands[0], s->shape, &own) : 0;
    bench_case *cases = code ? NULL : choose(s, operands, &own, &n);
    if (cases && n == 0)
        code = complain(GR_USAGE, "bench", "no case is like that; gradus bench --list names them");
    if (!s->counters && !s->json && cases && code == 0) /* rows tell the load */
        warn_if_busy();
    if (cases && code == 0)
        code = !s->against                        ? measure(run, cases, n)
               : strcmp(s->against, "torch") == 0 ? bench_torch(s, cases, n, run->batches, run->n_batches)
                                                  : bench_against(s, cases, n, run->batches, run->n_batches);
    free(cases);
    return code ? code : cases ? 0 : GR_NO_MEMORY;
}

static int run_bench(int argc, char **argv)
{
    bench_settings s = {0};
    const char *operands[BENCH_MAX_OPERANDS + 1] = {NULL};
    options_end end = options_parse(&bench_command, &s, argc, argv, operands);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    bench_run run = {.s = &s,
                     .report = {.json = s.json, .counters = s.counters, .way = bench_way_of(&s)},
                     .progress = progress_open()};
    if (s.bound) {
        const int wrong = bench_check_bound(&s, operands);
        return wrong ? wrong : bench_bound(&s);
    }
    if (s.ladder)
        return run_ladder(&run, operands);
    int code = bench_check_operands(operands);
    code = code ? code : bench_check_settings(&s, operands);
    if (code == 0)
        code = bench_parse_batches(&s, run.batches, &run.n_batches);
    if (code)
        return code;
    if (s.list)
        list_cases(&s, operands);
    else if (s.compare && strchr(s.compare, ','))
        return compare_files(&s);
    else
        return run_cases(&run, operands);
    return 0;
}

static const char *operand_name(int i)
{
    return i < gr_op_count() ? gr_op_name(i) : NULL;
}

static const option_group groups[] = {{"Options", bench_options, NULL, 0}, {0}};

const gradus_command bench_command = {
    .name = "bench",
    .purpose = "operations against the limits of this machine, across batch sizes",
    .usage = "bench [OP...] [options]\nbench OP --shape ROW [options]\nbench --compare FILE,FILE\nbench --list\n"
             "bench gemm --ladder --device cuda|simt\nbench --bound CHIP --recipe NAME --batch LIST",
    .operand = "OP",
    .operands = BENCH_MAX_OPERANDS,
    .operand_name = operand_name,
    .about =
        "Measure operations (default: all), forward and backward, at several batch sizes, beside what this machine "
        "allows. A result is compared with the reference first; one that is wrong is not timed, and the exit code is "
        "7. Two runs of one program never agree to the last percent: --compare and --against say which differences "
        "are there, and which are undecided.",
    .examples = "bench conv2d dense --batch 16,128\nbench conv2d --shape \"x[N,28,28,96] w[64,3,3,96] same\" --pass "
                "forward\nbench relu --threads 1 --json\nbench relu --threads 1 --compare before.jsonl",
    .groups = groups,
    .run = run_bench,
};
