/* bench_settings.c - see bench_settings.h. */
#include "bench/bench_settings.h"

#include <string.h>

#include "bench/bench_cases.h"
#include "terminal/text.h"
#include "terminal/values.h"

static const char *const part_names[] = {[BENCH_ALL] = "all",
                                         [BENCH_FORWARD] = "forward",
                                         [BENCH_BACKWARD] = "backward",
                                         [BENCH_DX] = "dx",
                                         [BENCH_DW] = "dw",
                                         [BENCH_UPDATE] = "update",
                                         NULL};

#define AT(field) offsetof(bench_settings, field)

const option bench_options[] = {
    TEXT_OPTION("batch", "LIST", AT(batches), "batch sizes (default: 4,16,64,256,1024)"),
    TEXT_OPTION("case", "TEXT", AT(about), "only cases in whose description or shapes TEXT stands"),
    CHOICE_OPTION("pass", "NAME", AT(part), part_names,
                  "all, forward, backward (all gradients), dx (the first input's alone), dw (the others' alone) or "
                  "update (of operations that change state) (default: all)"),
    TEXT_OPTION("shape", "ROW", AT(shape),
                "of one operation, a shape of your own as --list shows them, N standing for the batch size: "
                "\"x[N,28,28,96] w[64,3,3,96] stride[2,2] same\""),
    DEVICE_OPTION(AT(device)),
    CHOICE_OPTION("precision", "NAME", AT(precision), precisions, PRECISION_HELP),
    COUNT_OPTION("threads", "N", AT(threads), 1, 1024, "(default: all this process may use)"),
    FLAG_OPTION("pin", AT(pin), "give each thread a processor of its own"),
    FLAG_OPTION("cold", AT(cold), "read other memory before each pass, so that it finds nothing in the caches"),
    POSITIVE_OPTION("noise", "PERCENT", AT(noise),
                    "measure a case until the 95 % interval of each pass is at most so wide to either side "
                    "(default: 1)"),
    POSITIVE_OPTION("seconds", "X", AT(seconds), "but no longer than this (default: 15)"),
    FLAG_OPTION("unchecked", AT(unchecked), "do not compare results with the reference first"),
    TEXT_OPTION("compare", "FILE[,FILE]", AT(compare),
                "rows of an earlier run (of --json) against what is measured now, or against those of a second file: "
                "faster, slower or undecided"),
    TEXT_OPTION("against", "PROGRAM", AT(against),
                "measure the gradus of another build and this one in turns, and judge the difference: tells more than "
                "--compare where a machine is not quiet; torch: PyTorch and this one, whose numbers are compared "
                "first"),
    BYTES_OPTION("memory-limit", AT(memory_limit),
                 "leave out what needs more than this, such as 512M or 2G (default: the memory that is free)"),
    FLAG_OPTION("list", AT(list), "name the operations and the shapes they are measured with"),
    FLAG_OPTION(
        "counters", AT(counters),
        "in place of times: what CUDA kernels ask for, counted by --device simt in the build that checks accesses"),
    FLAG_OPTION("ladder", AT(ladder),
                "gemm alone: the rungs of kernels/cuda/ladder, one matrix product with one idea more each; times on "
                "--device cuda, counters on simt"),
    TEXT_OPTION("bound", "CHIP[,CHIP]", AT(bound),
                "measure nothing: tell from machine code what a training step (or the ladder) takes on a GPU that is "
                "not there, such as t4, a100, h100, kernel by kernel"),
    TEXT_OPTION("recipe", "NAME", AT(recipe), "with --bound: whose training step (default: cifar10-cnn)"),
    FLAG_OPTION("calibrate", AT(calibrate),
                "with --bound: measure the GPU of this machine, which CHIP names, and tell by what was measured from "
                "then on"),
    TEXT_OPTION("csv", "FILE", AT(csv), "write the rows into FILE as well, without the single samples"),
    FLAG_OPTION("json", AT(json), "print a line of JSON for every measurement, with all samples"),
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

bool bench_wanted(const bench_settings *s, const char *const *operands, const bench_case *c)
{
    return bench_chosen(operands, c->op) && bench_has_part(c, (bench_part)s->part.value) &&
           (!s->about || strcasestr(c->about, s->about) || strcasestr(c->row, s->about));
}

int bench_check_settings(const bench_settings *s, const char *const *operands)
{
    if (s->shape && (!operands[0] || operands[1]))
        return complain(GR_USAGE, "bench", "--shape is of one operation: gradus bench conv2d --shape \"%.100s\"",
                        s->shape);
    if (s->shape && s->about)
        return complain(GR_USAGE, "bench", "--shape is the case; --case chooses among those of the list");
    if (s->against && (s->compare || s->counters || s->csv))
        return complain(GR_USAGE, "bench", "--against does not go with %s",
                        s->compare    ? "--compare"
                        : s->counters ? "--counters"
                                      : "--csv");
    if (s->recipe)
        return complain(GR_USAGE, "bench", "--recipe is of --bound; gradus train %.60s --time measures its steps",
                        s->recipe);
    if (s->calibrate)
        return complain(GR_USAGE, "bench", "--calibrate is of --bound, which names the GPU of this machine");
    const bool torch = s->against && strcmp(s->against, "torch") == 0;
    const bool elsewhere = s->device.given && strcmp(device_names[s->device.value], "cpu") != 0;
    if (torch && (s->cold || elsewhere || (s->precision.given && s->precision.value > 0)))
        return complain(GR_USAGE, "bench", "--against torch compares fp32 on the device cpu, with warm caches");
    if (s->compare && s->counters)
        return complain(GR_USAGE, "bench", "--compare is of times, --counters counts");
    return 0;
}

gr_options bench_context(const bench_settings *s, bool plan_only)
{
    const gr_precision precision = s->precision.given ? precisions[s->precision.value].precision : GR_PRECISION_DEFAULT;
    return (gr_options){.device = s->device.given ? device_names[s->device.value] : NULL,
                        .threads = (int)s->threads,
                        .precision = precision,
                        .plan_only = plan_only};
}

bench_way bench_way_of(const bench_settings *s)
{
    return (bench_way){.part = (bench_part)s->part.value, .cold = s->cold, .pinned = s->pin};
}

bench_pace bench_pace_of(const bench_settings *s)
{
    return (bench_pace){.noise = 0.01 * (s->noise > 0 ? s->noise : 1), .seconds = s->seconds > 0 ? s->seconds : 15};
}
