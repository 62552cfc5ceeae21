/* find_batch.c - gradus find-batch: which batch size, with the evidence; and what --batch auto stands for. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "commands.h"
#include "find_batch/auto_batch.h"
#include "find_batch/finder.h"
#include "settings/check.h"
#include "terminal/json_values.h"
#include "terminal/stop.h"
#include "terminal/text.h"
#include "train/row.h"

typedef struct {
    settings run;
    double share;
} find_asks;

/* All that was found. */
typedef struct {
    memory_budget memory;
    fits fits;
    confirmation real;
    knee knee;
    useful useful;
    advice advice;
} finding;

static const double USUAL_SHARE = 0.85;
static const double BUSY = 0.1; /* turns of one batch size that differ by more tell of other work */

/* Everything but the update that confirms it. */
static int find(const finder *f, finding *a)
{
    site at;
    int code = site_open(f, &at);
    if (code == 0)
        code = find_fits(f, &at, &a->memory, &a->fits);
    if (code == 0) {
        const resolved run = finder_run(f, f->recipe->batch, 0);
        const learner l = learner_make(&run, at.ctx, &at.data.split);
        if (gr_ok(at.ctx))
            find_useful(f, &at, &l, &a->fits, &a->useful);
        if (gr_ok(at.ctx))
            find_knee(f, &at, &l, &a->fits, &a->knee);
        code = gr_ok(at.ctx) ? 0 : complain_of(at.ctx, f->command);
    }
    site_close(&at);
    if (code == 0)
        advise(f, &a->fits, &a->knee, &a->useful, &a->advice);
    return code;
}

int auto_batch(const settings *asked, const recipe *r, const char *command, int64_t *batch)
{
    progress p = progress_open();
    const finder f = {r, asked, USUAL_SHARE, command, &p, .told = true}; /* by the run to come */
    finding a;
    char peak[32];
    fprintf(stderr, "--batch auto: looking for a batch size\n");
    int code = find(&f, &a);
    if (code)
        return code;
    *batch = a.advice.batch;
    fprintf(stderr, "--batch %lld: %s; up to %lld fit (%s)\n", (long long)*batch, a.advice.reason,
            (long long)a.fits.batch, bytes_text((double)a.fits.peak, peak));
    return 0;
}

/* --- for people --------------------------------------------------------------------------------------------------- */

/* A line or more behind a name. */
static void print_item(const char *name, const char *text)
{
    enum { COLUMN = 8 };
    printf("%-*s", COLUMN, name);
    print_wrapped(stdout, text, COLUMN, COLUMN);
}

static void print_memory(const finder *f, const finding *a)
{
    char bytes[3][32], text[400], grown[80] = "";
    const bool shared = strcmp(a->memory.binds, "--memory-limit") != 0;
    snprintf(text, sizeof text, "%s for tensors: %.0f %% of %s", bytes_text((double)a->memory.budget, bytes[0]),
             shared ? 100 * f->share : 100, a->memory.binds);
    print_item("memory", text);
    if (a->real.grown >= 0)
        snprintf(grown, sizeof grown, ", the process grew by %s", bytes_text((double)a->real.grown, bytes[2]));
    snprintf(text, sizeof text, "%lld%s: planned %s; one update with evaluation took %s%s", (long long)a->fits.batch,
             a->fits.whole ? ", all of the training set" : "", bytes_text((double)a->fits.peak, bytes[0]),
             bytes_text((double)a->real.peak, bytes[1]), grown);
    print_item("fits", text);
}

static void print_speeds(const finding *a)
{
    printf("\n  batch    samples/s   +-   against the half\n");
    for (int i = 0; i < a->knee.n; i++) {
        const speed *s = &a->knee.speeds[i];
        printf("%7lld %12.1f %4.1f %%", (long long)s->batch, s->rate, 100 * s->error);
        if (i > 0)
            printf(" %+10.0f %%", 100 * (s->rate / s[-1].rate - 1));
        printf("%s\n", s->batch == a->knee.batch ? "   the knee" : "");
    }
    if (a->knee.spread < BUSY)
        return;
    char text[200];
    snprintf(text, sizeof text,
             "the machine does other work: two turns of one batch size differed by %.0f %%. Ask again when it is quiet",
             100 * a->knee.spread);
    putchar('\n');
    print_item("noise", text);
}

static void print_useful(const useful *u)
{
    char text[400];
    if (isfinite(u->scale))
        snprintf(text, sizeof text, "%.0f +- %.0f: the gradient noise scale, over %lld updates of %lld", u->scale,
                 u->error, (long long)u->updates, (long long)u->batch);
    else
        snprintf(text, sizeof text, "not known: %s", u->why);
    putchar('\n');
    print_item("useful", text);
}

static void print_finding(const finder *f, const finding *a)
{
    char command[128];
    const resolved run = finder_run(f, a->advice.batch, a->advice.micro_batch);
    printf("%s on ", run.recipe->name);
    print_plain(stdout, a->fits.data);
    printf(" with %s\n\n", run.optimizer->name);
    print_memory(f, a);
    print_speeds(a);
    print_useful(&a->useful);
    snprintf(command, sizeof command, "--batch %lld --lr %g", (long long)a->advice.batch, a->advice.lr);
    if (a->advice.micro_batch)
        snprintf(command + strlen(command), sizeof command - strlen(command), " --micro-batch %lld",
                 (long long)a->advice.micro_batch);
    print_item("advice", command);
    print_item("", a->advice.reason);
}

/* --- for machines ------------------------------------------------------------------------------------------------- */

static json_t *bytes_json(int64_t bytes)
{
    return bytes < 0 || bytes == INT64_MAX ? json_null() : json_integer(bytes);
}

static json_t *speeds_json(const knee *k)
{
    json_t *list = json_array();
    for (int i = 0; i < k->n; i++)
        json_array_append_new(list, json_pack("{s:I, s:f, s:f, s:i}", "batch", (json_int_t)k->speeds[i].batch,
                                              "samples_per_second", k->speeds[i].rate, "error", k->speeds[i].error,
                                              "updates", k->speeds[i].updates));
    return list;
}

static json_t *memory_json(const memory_budget *m)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s}", "budget", bytes_json(m->budget), "host", bytes_json(m->host),
                     "cgroup", bytes_json(m->cgroup), "gpu", bytes_json(m->gpu), "limit", bytes_json(m->limit), "binds",
                     m->binds);
}

static void print_json(const finder *f, const finding *a)
{
    const resolved run = finder_run(f, a->advice.batch, a->advice.micro_batch);
    const double scale = a->useful.scale;
    json_t *o = json_object();
    json_object_set_new(o, "recipe", json_string(run.recipe->name));
    json_object_set_new(o, "data", json_plain(a->fits.data));
    json_object_set_new(o, "optimizer", json_string(run.optimizer->name));
    json_object_set_new(o, "fits", json_integer(a->fits.batch));
    json_object_set_new(o, "peak_bytes", json_integer(a->fits.peak));
    json_object_set_new(o, "knee", json_integer(a->knee.batch));
    json_object_set_new(o, "useful", isfinite(scale) ? json_integer((json_int_t)fmax(1, round(scale))) : json_null());
    json_object_set_new(o, "batch", json_integer(a->advice.batch));
    json_object_set_new(o, "lr", json_real(a->advice.lr));
    json_object_set_new(o, "accumulate", json_integer(a->advice.accumulate));
    json_object_set_new(o, "reason", json_string(a->advice.reason));
    json_object_set_new(o, "micro_batch", a->advice.micro_batch ? json_integer(a->advice.micro_batch) : json_null());
    json_object_set_new(o, "measured_bytes", json_integer(a->real.peak));
    json_object_set_new(o, "process_bytes", bytes_json(a->real.grown));
    json_object_set_new(o, "memory", memory_json(&a->memory));
    json_object_set_new(o, "plans", json_integer(a->fits.plans));
    json_object_set_new(o, "speeds", speeds_json(&a->knee));
    json_object_set_new(o, "speeds_spread", json_real(a->knee.spread));
    json_object_set_new(o, "noise_scale", json_real_or_null(scale));
    json_object_set_new(o, "noise_scale_error", json_real_or_null(a->useful.error));
    json_dumpf(o, stdout, ROW_FORMAT);
    putchar('\n');
    json_decref(o);
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static int run_find_batch(int argc, char **argv)
{
    find_asks asks = {.run = {.seed = 1}, .share = USUAL_SHARE};
    const char *name;
    options_end end = options_parse(&find_batch_command, &asks, argc, argv, &name);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    const recipe *r = settings_recipe(&asks.run, name, "find-batch");
    if (!r)
        return GR_USAGE;
    if (asks.share > 1)
        return complain(GR_USAGE, "find-batch", "--memory %g: it is a share of what is free, at most 1", asks.share);
    stop_catch();
    const optimizer_set used = settings_optimizers(&asks.run, r);
    progress p = progress_open();
    finder f = {r, &asks.run, asks.share, "find-batch", .progress = &p};
    finding found;
    int code = settings_check(&asks.run, r, "find-batch", &used);
    if (code == 0)
        code = settings_check_inputs(&asks.run, "find-batch");
    if (code == 0)
        code = find(&f, &found);
    f.told = true;
    if (code == 0)
        code = confirm_fits(&f, &found.fits, &found.real);
    if (code == 0)
        (asks.run.json ? print_json : print_finding)(&f, &found);
    return code;
}

#define RUN(field) offsetof(find_asks, run.field)

static const option find_options[] = {
    COUNT_OPTION("batch", "N", RUN(batch), 1, MAX_BATCH,
                 "a batch size that is wished for: how to make it where it does not fit"),
    CHOICE_OPTION("optimizer", "NAME", RUN(optimizer), optimizers,
                  "it has a part in the memory (default: the recipe's)"),
    POSITIVE_OPTION("memory", "SHARE", offsetof(find_asks, share),
                    "the share of the free memory that may be filled (default: 0.85)"),
    COUNT_OPTION("seed", "N", RUN(seed), 0, INT64_MAX, "draws what the noise scale is measured with (default: 1)"),
    FLAG_OPTION("json", RUN(json), "print the answer as one line of JSON"),
    {0},
};

static const option_group groups[] = {{"The question", find_options, NULL, 0},
                                      SETTINGS_GROUP("The protocol", settings_protocol, offsetof(find_asks, run)),
                                      PARAMETERS_GROUP("The optimizer", offsetof(find_asks, run)),
                                      SETTINGS_GROUP("The machine", settings_machine, offsetof(find_asks, run)),
                                      {0}};

const gradus_command find_batch_command = {
    .name = "find-batch",
    .purpose = "the largest batch that fits, the fastest, the most useful",
    .usage = "find-batch RECIPE [options]\nfind-batch --data FOLDER [options]",
    .operand = "RECIPE",
    .operand_name = recipe_name,
    .about =
        "Find the batch size of a run. Without RECIPE: of one on the pictures in the class folders of FOLDER. The "
        "largest that fits is planned, not tried out, and one real update with evaluation confirms it. Then updates "
        "are timed at 1, 2, 4, ... samples until twice as many bring less than 5 % twice in a row, and the gradient "
        "noise scale is measured over a few updates: larger batches waste samples. What is soonest at a result is "
        "recommended, with its learning rate under --lr-rule. Later runs are not touched: the same seed gives the "
        "same bits as ever.",
    .examples = "find-batch cats-vs-dogs --data ~/datasets --lr-rule linear\n"
                "find-batch --data photos\n"
                "find-batch resnet18-cifar --memory-limit 2G --precision bf16 --json\n"
                "find-batch cifar10-cnn --procedural --batch 4096 --memory-limit 100M",
    .groups = groups,
    .run = run_find_batch,
};
