/*
 * bench_memory.c - gradus bench memory: the same updates over four ways of handing out memory. Each trial has a process
 * of its own, so that none finds the memory of another; the methods take turns, so that a busy machine is so to all.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "bench/bench_judge.h"
#include "bench/bench_memory_trial.h"
#include "commands.h"
#include "settings/check.h"
#include "terminal/json_values.h"
#include "terminal/progress.h"
#include "terminal/stop.h"
#include "terminal/text.h"
#include "terminal/values.h"
#include "train/row.h"

enum { MOST_BATCHES = 16, USUAL_ROUNDS = 5, MOST_ROUNDS = 100 };

typedef struct {
    settings run;
    const char *batches;
    int64_t rounds;
    double seconds; /* of a trial */
} memory_asks;

/* A method at a batch size: its trials, a round each. */
typedef struct {
    memory_trial last;
    double seconds[MOST_ROUNDS], ratios[MOST_ROUNDS]; /* to the planned arena's of the same round */
    double grown;                                     /* bytes: the most of them */
} method_trials;

typedef struct {
    const memory_asks *asks;
    const recipe *recipe;
    const char *optimizer;
    int rounds;
    progress *progress;
    method_trials of[MEMORY_METHODS];
} memory_bench;

/* --- measuring ---------------------------------------------------------------------------------------------------- */

static void keep(memory_bench *b, const memory_trial trials[MEMORY_METHODS], int round)
{
    for (int m = 0; m < MEMORY_METHODS; m++) {
        method_trials *t = &b->of[m];
        t->last = trials[m];
        t->seconds[round] = trials[m].seconds;
        t->ratios[round] = trials[m].seconds / trials[MEMORY_PLANNED].seconds;
        t->grown = fmax(t->grown, (double)trials[m].grown);
    }
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static int measure_round(memory_bench *b, const resolved *run, int round)
{
    memory_trial trials[MEMORY_METHODS];
    for (int i = 0; i < MEMORY_METHODS; i++) {
        const int m = (i + round) % MEMORY_METHODS; /* none is always the first */
        char left[64];
        snprintf(left, sizeof left, "batch %lld, round %d: %s", (long long)run->batch, round + 1,
                 memory_method_names[m]);
        progress_bar(b->progress, left, (round + (double)i / MEMORY_METHODS) / b->rounds, "");
        const int code = memory_trial_run(run, (memory_method)m, b->asks->seconds, &trials[m]);
        if (code)
            return code;
    }
    for (int m = 1; m < MEMORY_METHODS; m++)
        if (!same_bits(trials[m].loss, trials[0].loss))
            return complain(GR_DEVICE_FAULT, "bench memory", "the loss over %s is %.17g and over %s %.17g",
                            memory_method_names[m], trials[m].loss, memory_method_names[0], trials[0].loss);
    keep(b, trials, round);
    return 0;
}

/* --- for people --------------------------------------------------------------------------------------------------- */

static void print_machine(const memory_bench *b)
{
    const memory_trial *t = &b->of[MEMORY_PLANNED].last;
    printf("%s with %s: %s %s, %s, %d thread%s; %d round%s in turns\n", b->recipe->name, b->optimizer, t->device,
           t->isa, t->precision, t->threads, t->threads == 1 ? "" : "s", b->rounds, b->rounds == 1 ? "" : "s");
}

static void print_method(memory_bench *b, int m)
{
    method_trials *t = &b->of[m];
    char noise[16] = "";
    if (m != MEMORY_PLANNED && b->rounds > 1)
        snprintf(noise, sizeof noise, "%.1f %%", 100 * noise_of(t->ratios, b->rounds));
    printf("%-10s", memory_method_names[m]);
    printf(t->grown >= 0 ? "%8.1f" : "       -", t->grown / (1 << 20));
    printf("%11.2f%9.3f%9s%10.1f%13.1f\n", 1e3 * median_of(t->seconds, b->rounds), median_of(t->ratios, b->rounds),
           noise, t->last.system, t->last.faults);
}

static void print_batch(memory_bench *b, int64_t batch)
{
    const memory_trial *planned = &b->of[MEMORY_PLANNED].last, *other = &b->of[MEMORY_SYSTEM].last;
    char text[200], bytes[3][32];
    snprintf(text, sizeof text, "batch %lld: an update asks %.0f times, for %s at a time, planned in %s; beside it %s",
             (long long)batch, other->asked, bytes_text((double)other->step, bytes[0]),
             bytes_text((double)planned->step, bytes[1]), bytes_text((double)planned->persistent, bytes[2]));
    putchar('\n');
    print_wrapped(stdout, text, 0, 0);
    printf("%-10s%8s%11s%9s%9s%10s%13s\n", "", "peak MiB", "ms/update", "ratio", "+-", "from OS", "page faults");
    for (int m = 0; m < MEMORY_METHODS; m++)
        print_method(b, m);
    fflush(stdout);
}

static void print_legend(void)
{
    putchar('\n');
    print_wrapped(stdout,
                  "peak: what the process grew by, with weights, gradients and moments, which lie in the same place by "
                  "every method. ratio: time to planned in the same round, with its 95 % interval. from OS: calls of "
                  "mmap or malloc in an update; page faults of an update, after the first three. The losses had the "
                  "same bits by every method.",
                  0, 0);
}

/* --- for machines ------------------------------------------------------------------------------------------------- */

static void print_row(memory_bench *b, int64_t batch, int m)
{
    method_trials *t = &b->of[m];
    const memory_trial *l = &t->last;
    json_t *times = json_array();
    for (int i = 0; i < b->rounds; i++)
        json_array_append_new(times, json_real(1e3 * t->seconds[i]));
    json_t *row =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:I, s:s}", "recipe", b->recipe->name, "optimizer", b->optimizer,
                  "device", l->device, "isa", l->isa, "precision", l->precision, "threads", l->threads, "version",
                  gr_version(), "batch", (json_int_t)batch, "method", memory_method_names[m]);
    json_object_set_new(row, "peak_bytes", t->grown >= 0 ? json_integer((json_int_t)t->grown) : json_null());
    json_object_set_new(row, "persistent_bytes", json_integer(l->persistent));
    json_object_set_new(row, "step_bytes", json_integer(l->step));
    json_object_set_new(row, "times", times);
    json_object_set_new(row, "ratio_noise", json_real_or_null(noise_of(t->ratios, b->rounds)));
    json_object_set_new(row, "ratio", json_real(median_of(t->ratios, b->rounds)));
    json_object_set_new(row, "ms", json_real(1e3 * median_of(t->seconds, b->rounds)));
    json_object_set_new(row, "requests", m == MEMORY_PLANNED ? json_null() : json_real(l->asked));
    json_object_set_new(row, "from_system", json_real(l->system));
    json_object_set_new(row, "page_faults", json_real(l->faults));
    json_object_set_new(row, "loss", json_real(l->loss));
    json_dumpf(row, stdout, ROW_FORMAT);
    putchar('\n');
    json_decref(row);
}

/* --- the command -------------------------------------------------------------------------------------------------- */

/* All methods at one batch size. */
static int measure_batch(memory_bench *b, int64_t batch, bool first)
{
    settings s = b->asks->run;
    s.batch = batch;
    const resolved run = settings_resolve(&s, b->recipe);
    memset(b->of, 0, sizeof b->of);
    int code = 0;
    for (int round = 0; round < b->rounds && code == 0; round++)
        code = measure_round(b, &run, round);
    progress_clear(b->progress);
    if (code)
        return code;
    if (s.json) {
        for (int m = 0; m < MEMORY_METHODS; m++)
            print_row(b, batch, m);
        return 0;
    }
    if (first)
        print_machine(b);
    print_batch(b, batch);
    return 0;
}

static int measure_all(memory_bench *b)
{
    int64_t batches[MOST_BATCHES];
    char word[32];
    const char *list = b->asks->batches ? b->asks->batches : "16,64,256";
    const int n = parse_counts(list, 1, MAX_BATCH, batches, MOST_BATCHES, word);
    int code = 0;
    if (n < 0)
        return complain(GR_USAGE, "bench memory", "--batch: \"%s\" is no whole number from 1 to %d, or one too many",
                        list, MAX_BATCH);
    for (int i = 0; i < n && code == 0; i++)
        code = measure_batch(b, batches[i], i == 0);
    if (code == 0 && !b->asks->run.json)
        print_legend();
    return code;
}

static int run_bench_memory(int argc, char **argv)
{
    memory_asks asks = {.run = {.seed = 1}, .rounds = USUAL_ROUNDS, .seconds = 0.5};
    const char *name;
    options_end end = options_parse(&bench_memory_command, &asks, argc, argv, &name);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    const recipe *r = settings_recipe(&asks.run, name, "bench memory");
    if (!r)
        return GR_USAGE;
    const optimizer_set used = settings_optimizers(&asks.run, r);
    const int code = settings_check(&asks.run, r, "bench memory", &used);
    if (code)
        return code;
    stop_catch();
    progress p = progress_open();
    memory_bench b = {
        .asks = &asks, .recipe = r, .optimizer = used.list[0]->name, .rounds = (int)asks.rounds, .progress = &p};
    return measure_all(&b);
}

#define RUN(field) offsetof(memory_asks, run.field)

static const option memory_options[] = {
    TEXT_OPTION("batch", "LIST", offsetof(memory_asks, batches), "batch sizes (default: 16,64,256)"),
    CHOICE_OPTION("optimizer", "NAME", RUN(optimizer), optimizers,
                  "its moments are a part of the peak (default: the recipe's)"),
    CHOICE_OPTION("precision", "NAME", RUN(precision), precisions, PRECISION_HELP),
    FLAG_OPTION("no-fusion", RUN(no_fusion), "the network of single operations: more tensors, and larger ones"),
    TEXT_OPTION("model", "FILE", RUN(model), "a network of your own in place of the recipe's"),
    COUNT_OPTION("threads", "N", RUN(threads), 1, 1024, "(default: all this process may use)"),
    COUNT_OPTION("rounds", "N", offsetof(memory_asks, rounds), 1, MOST_ROUNDS, "each method once (default: 5)"),
    POSITIVE_OPTION("seconds", "X", offsetof(memory_asks, seconds),
                    "of a method in a round, five updates at the least (default: 0.5)"),
    FLAG_OPTION("json", RUN(json), "print a line of JSON for each method and batch size"),
    {0},
};

static const option_group groups[] = {{"Options", memory_options, NULL, 0}, {0}};

const gradus_command bench_memory_command = {
    .name = "bench memory",
    .purpose = "the planned memory of an update beside malloc, a cache, and no reuse",
    .usage = "bench memory RECIPE [options]",
    .operand = "RECIPE",
    .operand_name = recipe_name,
    .about = "Run the same updates over four ways of handing out memory, on drawn samples on the device cpu: the "
             "library's planned arena, a caching allocator by PyTorch's rules, malloc and free for each tensor, and "
             "memory that is not used twice within an update. Tells the peak, the time, calls of the system and page "
             "faults of each, and that the losses have the same bits.",
    .examples = "bench memory cifar10-cnn\nbench memory cats-vs-dogs --batch 16 --optimizer adam --json",
    .groups = groups,
    .run = run_bench_memory,
};
