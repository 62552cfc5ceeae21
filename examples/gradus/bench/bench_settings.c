/* bench_settings.c - see bench_settings.h. */
#include "bench/bench_settings.h"

#include <string.h>

#include "bench/bench_cases.h"
#include "terminal/text.h"
#include "terminal/values.h"

static const precision_choice float_precisions[] = {
    {"fp32", GR_PRECISION_FP32}, {"tf32", GR_PRECISION_TF32}, {NULL, GR_PRECISION_DEFAULT}};

#define AT(field) offsetof(bench_settings, field)

const option bench_options[] = {
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

static bool has_shape(const char *op)
{
    for (const bench_case *c = bench_cases(); c->op; c++)
        if (strcmp(c->op, op) == 0)
            return true;
    return false;
}

bool bench_chosen(const char *const *operands, const char *op)
{
    if (!operands[0])
        return true;
    for (; *operands; operands++)
        if (strcmp(*operands, op) == 0)
            return true;
    return false;
}

int bench_check_operands(const char *const *operands)
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
        if (!has_shape(*operands))
            return complain(GR_USAGE, "bench", "there is no shape to measure %s with", *operands);
    }
    return 0;
}

int bench_parse_batches(const bench_settings *s, int64_t batches[BENCH_MAX_BATCHES], int *n)
{
    char word[32];
    *n = parse_counts(s->batches ? s->batches : "4,16,64,256,1024", 1, 1 << 20, batches, BENCH_MAX_BATCHES, word);
    if (*n == -1)
        return complain(GR_USAGE, "bench",
                        "--batch: \"%s\" is no whole number from 1 to 1048576; give a list such as 16,128", word);
    if (*n == -2)
        return complain(GR_USAGE, "bench", "--batch: more than %d of them", BENCH_MAX_BATCHES);
    return 0;
}

gr_options bench_context(const bench_settings *s, bool plan_only)
{
    const gr_precision precision =
        s->precision.given ? float_precisions[s->precision.value].precision : GR_PRECISION_DEFAULT;
    return (gr_options){.device = s->device.given ? device_names[s->device.value] : NULL,
                        .threads = (int)s->threads,
                        .precision = precision,
                        .plan_only = plan_only};
}

bool bench_in_tf32(const bench_settings *s)
{
    return s->precision.given && float_precisions[s->precision.value].precision == GR_PRECISION_TF32;
}
