/*
 * bench_scaling.c - gradus bench scaling: an update by 1, 2, 4 ranks beside what the model says, then the model alone
 * for links of machines. Numbers of ranks take turns, so that a busy machine is so to all.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench_judge.h"
#include "bench/bench_scaling.h"
#include "commands.h"
#include "settings/check.h"
#include "terminal/complain.h"
#include "terminal/stop.h"
#include "terminal/values.h"

enum { USUAL_ROUNDS = 3 };

/* --- measuring ---------------------------------------------------------------------------------------------------- */

/* Strong: the same batch, in as many shards as there are ranks at most. Weak: each rank has a largest rank's share. */
static resolved run_of(const scaling_bench *b, int way, int64_t ranks)
{
    settings s = b->asks->run;
    const int64_t most = b->ranks[b->n - 1], batch = settings_resolve(&s, b->recipe).batch;
    s.threads = 1;
    s.shards = way == STRONG ? most : ranks;
    s.batch = way == STRONG ? batch : (batch + most - 1) / most * ranks;
    return settings_resolve(&s, b->recipe);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static int measure(scaling_bench *b, int way, int i, int round)
{
    rank_trials *t = &b->of[way][i], *first = &b->of[way][0];
    const resolved run = run_of(b, way, b->ranks[i]);
    char left[64];
    snprintf(left, sizeof left, "round %d: %s, %lld ranks", round + 1, scaling_way_names[way], (long long)b->ranks[i]);
    progress_bar(b->progress, left, (round + (double)(way * b->n + i) / (WAYS * b->n)) / b->rounds, "");
    const int code = scaling_trial_run(&run, (int)b->ranks[i], b->asks->seconds, &t->last);
    if (code)
        return code;
    if (way == STRONG && !same_bits(t->last.loss, first->last.loss))
        return complain(GR_DEVICE_FAULT, "bench scaling", "the loss by %lld ranks is %.17g and by %lld %.17g",
                        (long long)b->ranks[i], t->last.loss, (long long)b->ranks[0], first->last.loss);
    t->batch = run.batch;
    t->seconds[round] = t->last.seconds;
    t->ratios[round] = t->last.seconds / first->seconds[round];
    t->small[round] = t->last.small;
    t->large[round] = t->last.large;
    return 0;
}

static int measure_all(scaling_bench *b)
{
    int code = 0;
    for (int round = 0; round < b->rounds; round++)
        for (int way = 0; way < WAYS; way++)
            for (int i = 0; i < b->n && code == 0; i++)
                code = measure(b, way, i, round);
    progress_clear(b->progress);
    for (int way = 0; way < WAYS && code == 0; way++)
        for (int i = 0; i < b->n; i++) {
            rank_trials *t = &b->of[way][i];
            t->middle = median_of(t->seconds, b->rounds);
            t->ratio = median_of(t->ratios, b->rounds);
            t->sum = median_of(t->large, b->rounds);
        }
    return code;
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

/* The link of this machine, by the sums of the smallest number of ranks above 1. */
static scaling_link measured_link(scaling_bench *b)
{
    rank_trials *t = &b->of[STRONG][1];
    const double steps = log2((double)b->ranks[1]), share = 2 * (1 - 1 / (double)b->ranks[1]);
    const double small = median_of(t->small, b->rounds) / steps, large = median_of(t->large, b->rounds);
    return scaling_link_of(small, large - small * (steps - 1), share * t->last.bytes);
}

double scaling_predict(const scaling_bench *b, const scaling_link *link, int way, int i)
{
    const double ranks = (double)b->ranks[i], together = fmin(ranks, b->processors), one = b->of[way][0].middle;
    const double work = way == STRONG ? one / together : one * ranks / together;
    return work + scaling_sum(link, b->ranks[i], b->of[way][0].last.bytes);
}

/* --- the command -------------------------------------------------------------------------------------------------- */

/* The numbers of ranks, growing powers of two, 1 the first. Returns 0 or GR_USAGE, complained of. */
static int read_ranks(scaling_bench *b)
{
    char word[32];
    const char *list = b->asks->ranks ? b->asks->ranks : "1,2,4";
    b->n = parse_counts(list, 1, GR_MAX_RANKS, b->ranks, MOST_COUNTS, word);
    bool good = b->n >= 2 && b->ranks[0] == 1;
    for (int i = 1; i < b->n; i++)
        good = good && b->ranks[i] > b->ranks[i - 1] && (b->ranks[i] & (b->ranks[i] - 1)) == 0;
    return good ? 0
                : complain(GR_USAGE, "bench scaling",
                           "--ranks: \"%s\" is no list of 2 to %d growing powers of two that begins with 1, such as "
                           "1,2,4",
                           list, MOST_COUNTS);
}

static int run_bench_scaling(int argc, char **argv)
{
    scaling_asks asks = {.run = {.seed = 1}, .rounds = USUAL_ROUNDS, .seconds = 1};
    static scaling_bench b;
    const char *name;
    options_end end = options_parse(&bench_scaling_command, &asks, argc, argv, &name);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    const recipe *r = settings_recipe(&asks.run, name, "bench scaling");
    if (!r)
        return GR_USAGE;
    const optimizer_set used = settings_optimizers(&asks.run, r);
    progress p = progress_open();
    b = (scaling_bench){.asks = &asks,
                        .recipe = r,
                        .rounds = (int)asks.rounds,
                        .processors = (double)sysconf(_SC_NPROCESSORS_ONLN),
                        .progress = &p};
    int code = settings_check(&asks.run, r, "bench scaling", &used);
    code = code ? code : read_ranks(&b);
    if (code)
        return code;
    stop_catch();
    json_object_seed(0); /* which threads must not do at once */
    code = measure_all(&b);
    if (code)
        return code;
    const scaling_link link = measured_link(&b);
    (asks.run.json ? scaling_tell_json : scaling_tell)(&b, &link);
    return 0;
}

#define RUN(field) offsetof(scaling_asks, run.field)

static const option scaling_options[] = {
    TEXT_OPTION("ranks", "LIST", offsetof(scaling_asks, ranks), "powers of two, from 1 on (default: 1,2,4)"),
    COUNT_OPTION("batch", "N", RUN(batch), 1, MAX_BATCH,
                 "of the strong runs, and of the weak ones by the most ranks (default: the recipe's)"),
    CHOICE_OPTION("optimizer", "NAME", RUN(optimizer), optimizers, "(default: the recipe's)"),
    TEXT_OPTION("model", "FILE", RUN(model), "a network of your own in place of the recipe's"),
    COUNT_OPTION("rounds", "N", offsetof(scaling_asks, rounds), 1, MOST_ROUNDS,
                 "each number of ranks once (default: 3)"),
    POSITIVE_OPTION("seconds", "X", offsetof(scaling_asks, seconds),
                    "of a trial, five updates at the least (default: 1)"),
    POSITIVE_OPTION("compute", "MS", offsetof(scaling_asks, compute),
                    "what an update takes one rank elsewhere, for the model on paper (default: as measured here)"),
    FLAG_OPTION("json", RUN(json), "print a line of JSON for each number of ranks"),
    {0},
};

static const option_group groups[] = {{"Options", scaling_options, NULL, 0}, {0}};

const gradus_command bench_scaling_command = {
    .name = "bench scaling",
    .purpose = "an update by several ranks beside compute / ranks + bytes / bandwidth",
    .usage = "bench scaling RECIPE [options]",
    .operand = "RECIPE",
    .operand_name = recipe_name,
    .about = "Run updates of a recipe on drawn samples by 1, 2, 4 ranks, threads of this process with one thread of "
             "computing each: strong scaling, where one batch is shared out, and weak, where each rank has as many "
             "samples. Beside the times stands what one rank's time and two measured constants of the machine make of "
             "them; then the same model on paper, up to 1,024 ranks over links of machines, each constant with its "
             "source.",
    .examples = "bench scaling cifar10-cnn\nbench scaling resnet18-cifar --batch 32 --ranks 1,2 --json",
    .groups = groups,
    .run = run_bench_scaling,
};
