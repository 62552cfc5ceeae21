/* train.c - gradus train: one run of a recipe, its progress on stderr, its result on stdout. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "find_batch/auto_batch.h"
#include "find_batch/planned.h"
#include "settings/check.h"
#include "sources/source.h"
#include "sweep/cell_state.h"
#include "terminal/complain.h"
#include "terminal/json_memory.h"
#include "terminal/output.h"
#include "terminal/progress.h"
#include "terminal/stop.h"
#include "terminal/system.h"
#include "train/checkpoints.h"
#include "train/first_weights.h"
#include "train/ranks.h"
#include "train/repeats.h"
#include "train/row.h"
#include "train/tell.h"
#include "train/test_part.h"
#include "train/time_watch.h"
#include "train/usage.h"
#include "train/verdict.h"
#include "train/weights_file.h"

typedef struct {
    settings run;
    bool list, explain;
} train_asks;

#define RUN(field) offsetof(train_asks, run.field)

static const option ask_options[] = {
    FLAG_OPTION("list", offsetof(train_asks, list), "name the recipes"),
    FLAG_OPTION("explain", offsetof(train_asks, explain),
                "tell what the recipe does and what is odd about its publication"),
    {0},
};

static const option rank_options[] = {
    COUNT_OPTION("ranks", "R", RUN(ranks), 1, GR_MAX_RANKS,
                 "share the --shards out to so many ranks, threads of this process with their share of --threads, or "
                 "of several that mpirun has started: a power of two, and the results do not depend on it (default: 1, "
                 "or one for each process)"),
    POSITIVE_OPTION("patience", "SECONDS", RUN(patience),
                    "with several ranks: how long one may let the others wait before it is given up (default: 10)"),
    {0},
};

static const option run_options[] = {
    COUNT_OPTION("runs", "N", RUN(runs), 1, 10000,
                 "make N runs, of the seeds from --seed on: a line for each, then the mean with its 95 % interval and "
                 "how many reached --target-accuracy; with --checkpoint each keeps its state in a folder seed-S of it"),
    {0},
};

static const option evaluation_options[] = {
    FLAG_OPTION("no-evaluation", RUN(no_evaluation),
                "train only: leave out the validation after every epoch and the test after the last, for runs of a "
                "few updates"),
    {0},
};

static const option file_options[] = {
    TEXT_OPTION("save-weights", "FILE", RUN(save_weights), "write the trained weights (safetensors)"),
    TEXT_OPTION("log-updates", "FILE", RUN(log_updates), "write one JSON line per update: its number and its loss"),
    FLAG_OPTION("time", RUN(time), "tell where the time of an update goes, by operation and pass"),
    FLAG_OPTION("json", RUN(json), "print the result as one line of JSON"),
    {0},
};

/* One run, from the settings to its result. */
typedef struct {
    result result;
    source data;
    gr_context *ctx;
    gr_group *group; /* NULL: one rank */
    output log;
    bool log_kept;
    int log_code; /* of reading the log that it takes the place of: 0 or an exit code, complained of */
    checkpoints kept;
    char *note; /* of the last checkpoint */
    progress progress;
    char bottleneck[256];
    time_watch *times; /* NULL: not asked for */
    usage_watch usage;
    int64_t samples_before; /* of the run that this one goes on from */
    repeats *several;       /* that it is one of; NULL: the only one */
} run;

/* Whether it is the rank that tells of the run and writes its files. */
static bool leads(const run *t)
{
    return gr_group_rank(t->group) == 0;
}

/* --- during training ---------------------------------------------------------------------------------------------- */

static void on_trace(void *user, const gr_trace_event *e)
{
    run *t = user;
    usage_event(&t->usage, e);
    time_watch_event(t->times, e);
}

/* The first update is over: nobody listens to the trace any more, unless times are asked for. */
static void count_first(run *t, const gr_progress *p)
{
    if (t->usage.counted)
        return;
    usage_count(&t->usage, p->samples - t->samples_before);
    if (!t->times)
        gr_trace(t->ctx, NULL, NULL);
}

/* A loss has as many digits as the type can tell apart; JSON has no word for one that is not finite. */
static void log_update(const run *t, const gr_progress *p)
{
    char loss[32] = "null";
    if (isfinite(p->loss))
        snprintf(loss, sizeof loss, "%.*g", gr_real(t->ctx) == GR_F64 ? 17 : 9, p->loss);
    fprintf(t->log.file, "{\"update\":%lld,\"loss\":%s}\n", (long long)p->update, loss);
}

static bool on_report(void *user, const gr_progress *p)
{
    run *t = user;
    count_first(t, p);
    time_watch_end(t->times, !p->epoch_end);
    if (p->epoch_end)
        json_array_append_new(t->result.history, row_epoch(p));
    else if (t->log.file) /* every update is read then */
        log_update(t, p);
    progress_fit(&t->progress, p);
    time_watch_begin(t->times);
    return !stop_asked();
}

static bool on_stop(void *user)
{
    (void)user;
    return stop_asked();
}

/* --- checkpoints -------------------------------------------------------------------------------------------------- */

/* The epochs so far, in all their digits. */
static const char *on_note(void *user)
{
    run *t = user;
    free(t->note);
    t->note = NULL;
    if (json_memory_failed())
        return NULL;
    return t->note = json_text(t->result.history, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
}

/* Tells of updates whose lines went with a run that was killed; of none where first is behind last. */
static void tell_of_gap(const run *t, long long first, long long last)
{
    if (first <= last)
        fprintf(stderr,
                "gradus train: %s has no lines of the updates %lld to %lld: the run that made them was killed\n",
                t->log.path, first, last);
}

/*
 * The lines of updates that the run does not make again, from the log that it left when it was stopped. One that was
 * killed in between has left a gap, behind which there may be lines of one that was stopped.
 */
static void copy_log(run *t, int64_t updates)
{
    char line[256];
    long long update, last = 0;
    FILE *before = fopen(t->log.path, "r");
    while (before && fgets(line, sizeof line, before) && sscanf(line, "{\"update\":%lld,", &update) == 1 &&
           update > last && update <= updates) {
        tell_of_gap(t, last + 1, update - 1);
        fputs(line, t->log.file);
        last = update;
    }
    if (before ? ferror(before) : errno != ENOENT)
        t->log_code = complain_of_file(t->log.path, "cannot be read", "train");
    else
        tell_of_gap(t, last + 1, updates);
    if (before)
        fclose(before);
}

static bool on_resumed(void *user, const gr_progress *p, const char *path, const char *note)
{
    run *t = user;
    json_t *history = json_loads(note, 0, NULL);
    if (!json_is_array(history)) {
        json_decref(history);
        return false;
    }
    json_decref(t->result.history);
    t->result.history = history;
    t->samples_before = p->samples;
    if (t->log.file)
        copy_log(t, p->update);
    complain(GR_OK, "train", "goes on from %s, update %lld", path, (long long)p->update);
    return true;
}

static void on_told(void *user, const char *text)
{
    (void)user;
    complain(GR_OK, "train", "%s; the checkpoint before it is taken", text);
}

static int open_checkpoints(run *t, const resolved *s, const gr_module *net)
{
    const int code = checkpoints_open(&t->kept, s, &t->data, net, "train");
    if (!leads(t))
        return code;
    t->kept.options.note = on_note;
    t->kept.options.resumed = on_resumed;
    t->kept.options.told = on_told;
    t->kept.options.user = t;
    return code;
}

/* --- before and after --------------------------------------------------------------------------------------------- */

static int check_outputs(const settings *s)
{
    int code = output_check_apart((const char *const[]){s->save_weights, s->log_updates, s->checkpoint}, 3, "train");
    if (code == 0 && s->save_weights)
        code = output_check(s->save_weights, "train");
    if (code == 0 && s->log_updates)
        code = output_check(s->log_updates, "train");
    return code;
}

/* Reads the data, makes the network and its optimizer. Returns 0 or an exit code, complained of. */
static int prepare(run *t, const resolved *s, gr_module **net, gr_optimizer **opt)
{
    t->ctx = resolved_open(s, false);
    if (!gr_ok(t->ctx))
        return complain_of(t->ctx, "train");
    int code = source_open(t->ctx, s, "train", &t->data);
    if (code == 0)
        code = source_check_batch(&t->data, s->batch, s->last_batch, "train");
    if (code == 0)
        code = test_part_check(s, &t->data, "train");
    if (code == 0)
        code = planned_within_group(t->ctx, s, &t->data, "train");
    if (code)
        return code;
    *net = resolved_built_net(s, t->ctx, t->data.split.train);
    if (gr_ok(t->ctx) && (code = first_weights(*net, t->ctx, s, t->data.split.train, "train")) != 0)
        return code;
    *opt = resolved_optimizer(s, t->ctx, *net);
    return gr_ok(t->ctx) ? 0 : complain_of(t->ctx, "train");
}

/* Opens what the run writes as it goes. Returns 0 or an exit code, complained of. */
static int open_outputs(run *t, const resolved *s, const gr_module *net)
{
    int code = 0;
    if (leads(t) && s->asked.time && !(t->times = time_watch_open("train")))
        return GR_NO_MEMORY;
    stop_at_next_chance();
    if (s->asked.checkpoint || t->group)
        code = open_checkpoints(t, s, net);
    if (code == 0 && leads(t) && s->asked.log_updates)
        code = output_open(&t->log, s->asked.log_updates, "train");
    return code;
}

/* The training itself. Returns 0 or an exit code, complained of. */
static int fit(run *t, const resolved *s, gr_module *net, gr_optimizer *opt)
{
    gr_fit_options o = resolved_fit(s);
    if (s->asked.log_updates)
        o.metrics_every = 1;
    o.watch_every = t->progress.watch_every;
    o.report = leads(t) ? on_report : NULL;
    o.stop = leads(t) ? on_stop : NULL;
    o.user = t;
    o.group = t->group;
    o.agree = t->kept.settings;
    o.n_agree = t->group ? t->kept.options.n_settings : 0;
    o.checkpoints = s->asked.checkpoint ? &t->kept.options : NULL;
    gr_ceilings limits = {0};
    const int code = s->asked.usage && !t->group ? usage_limits(s, &limits, "train") : 0;
    if (code)
        return code;
    gpu_watch *watch = strcmp(gr_device_name(t->ctx), "cuda") == 0 ? gpu_watch_begin(gpu_asked()) : NULL;
    gr_split parts = t->data.split;
    if (s->asked.no_evaluation)
        parts.val = parts.test = NULL;
    time_watch_begin(t->times);
    t->progress.limit = o.seconds;
    usage_begin(&t->usage);
    if (leads(t))
        gr_trace(t->ctx, on_trace, t);
    t->result.fit = gr_fit(net, opt, parts, &o);
    gr_trace(t->ctx, NULL, NULL);
    t->result.gpu = gpu_watch_end(watch);
    t->result.usage = usage_end(&t->usage, &t->result.fit);
    t->result.usage.limits = limits;
    if (t->group) /* what the other ranks take is not seen */
        t->result.usage.operand_bytes = NAN;
    if (leads(t))
        progress_clear(&t->progress);
    return gr_ok(t->ctx) ? 0 : complain_of(t->ctx, "train");
}

/* The losses up to an update, in their file. Returns 0 or an exit code, complained of. */
static int keep_log(run *t)
{
    const int code = !t->log.file || t->log_code ? t->log_code : output_commit(&t->log, "train");
    t->log_kept = code == 0 && t->result.run->asked.log_updates;
    return code;
}

/* What is left in files: of weights, what was evaluated. Returns 0 or an exit code, complained of: the run stays. */
static int save(run *t, const resolved *s, gr_module *net, gr_optimizer *opt)
{
    int code = 0;
    if (s->asked.ema.value > 0)
        gr_ema_swap(opt);
    if (s->asked.save_weights)
        code = weights_file_save(t->ctx, net, s, &t->data, "train");
    const int logged = keep_log(t);
    return code ? code : logged;
}

static void fill_result(run *t)
{
    result *r = &t->result;
    r->data = t->data.name;
    r->data_hash = t->data.hash;
    r->second = gr_dataset_classes(t->data.split.train) == 2 ? gr_dataset_class_name(t->data.split.train, 1) : NULL;
    r->device = gr_device_name(t->ctx);
    r->isa = gr_isa_name(t->ctx);
    r->threads = gr_thread_count(t->ctx);
    r->precision = gr_precision_name(t->ctx);
    r->peak_bytes = r->code == GR_NO_MEMORY ? 0 : gr_memory_use(t->ctx).peak;
    r->error = gr_error_text(t->ctx);
    const verdict_facts facts = {.cpus = (int)sysconf(_SC_NPROCESSORS_ONLN),
                                 .apart = strcmp(gr_device_name(t->ctx), "cuda") == 0,
                                 .workers = r->fit.workers,
                                 .prefetch = r->fit.prefetch,
                                 .late = resolved_preload(r->run) == PRELOAD_NONE,
                                 .on_device = resolved_preload(r->run) == PRELOAD_DEVICE};
    r->bottleneck = verdict(&r->fit.time, &facts, t->bottleneck, sizeof t->bottleneck);
}

/* Running out of memory and numbers that go bad are results too, for those who read rows. */
static void print(const run *t)
{
    const result *r = &t->result;
    const bool finished = r->code == GR_OK || r->code == GR_STOPPED;
    const bool is_result = finished || r->code == GR_NO_MEMORY || r->code == GR_NUMERIC;
    if (t->several) {
        if (is_result)
            repeats_add(t->several, r);
    } else if (r->run->asked.json && is_result) {
        json_t *row = row_json(r);
        json_dumpf(row, stdout, ROW_FORMAT);
        putchar('\n');
        json_decref(row);
    } else if (!r->run->asked.json && finished) {
        tell_result(r);
        if (t->times)
            time_watch_print(t->times, stdout);
        if (r->run->asked.usage)
            usage_print(&r->usage, stdout);
    }
}

static void tell_of_stop(const run *t)
{
    const settings *asked = &t->result.run->asked;
    fprintf(stderr, "gradus train: stopped by a signal at update %lld%s%s%s\n", (long long)t->result.fit.updates,
            asked->checkpoint ? "; the same command" : "", asked->checkpoint && !asked->resume ? " with --resume" : "",
            asked->checkpoint ? " goes on" : "");
}

/* What may help a run whose numbers went bad, and what there is of it. */
static void tell_of_numbers(const run *t)
{
    const resolved *s = t->result.run;
    const bool scaled = strcmp(gr_precision_name(t->ctx), "fp16") == 0;
    char kept[2][1200] = {"", ""};
    if (t->log_kept)
        snprintf(kept[0], sizeof kept[0], "; %.1000s has the losses before", s->asked.log_updates);
    if (s->asked.checkpoint && cell_state_is_there(s->asked.checkpoint))
        snprintf(kept[1], sizeof kept[1], "; %.1000s has the checkpoints before", s->asked.checkpoint);
    complain(GR_OK, "train", "what may help: an --lr below %g, --warm-up, --clip-norm%s%s%s", s->lr,
             scaled ? ", --precision bf16 or fp32" : "", kept[0], kept[1]);
}

/* Finite, and so far above what guessing gives that no penalty or smoothing explains it: the run has diverged. */
static void tell_of_divergence(const run *t)
{
    static const double FAR = 100;
    const double loss = t->result.fit.train_loss, guessing = log(gr_dataset_classes(t->data.split.train));
    if (loss > FAR * guessing)
        complain(GR_OK, "train",
                 "the training loss of %g is far above that of guessing, %.2f: the run has diverged; what may help: an "
                 "--lr below %g, --warm-up, --clip-norm",
                 loss, guessing, t->result.run->lr);
}

/* What rank 0 leaves behind when the training is over. Returns 0 or an exit code, complained of: the run stays. */
static int leave(run *t, const resolved *s, gr_module *net, gr_optimizer *opt, int code)
{
    const int saved = code == 0 ? save(t, s, net, opt) : code == GR_NUMERIC ? keep_log(t) : 0;
    if (code == 0)
        code = t->result.fit.stopped ? GR_STOPPED : test_part_views(net, t->ctx, s, &t->data, &t->result, "train");
    if (code == GR_STOPPED)
        tell_of_stop(t);
    if (code == GR_NUMERIC && !s->asked.json && !t->several)
        tell_of_numbers(t);
    if (code == 0 && !s->asked.json && !t->several)
        tell_of_divergence(t);
    output_drop(&t->log);
    t->result.code = (gr_code)code;
    const int counted = gr_ok(t->ctx) && t->result.fit.updates > 0
                            ? usage_add_model(&t->result.usage, t->ctx, net, &t->result.fit, "train")
                            : 0;
    fill_result(t);
    t->result.time = t->times ? time_watch_json(t->times) : NULL;
    print(t);
    json_decref(t->result.time);
    time_watch_close(t->times);
    return saved ? saved : code ? code : counted;
}

/* One rank of a run; several: the repeats that it is one of, NULL: it is alone. */
static int run_rank(const resolved *s, gr_group *group, void *several)
{
    run t = {.result = {.run = s, .history = json_array()}, .group = group, .several = several};
    gr_module *net = NULL;
    gr_optimizer *opt = NULL;
    if (leads(&t))
        t.progress = progress_open();
    int code = prepare(&t, s, &net, &opt);
    if (code == 0)
        code = open_outputs(&t, s, net);
    if (code == 0)
        code = fit(&t, s, net, opt);
    if (code)
        gr_group_fail(group, *complaint_kept() ? complaint_kept() : gr_error_text(t.ctx));
    if (leads(&t))
        code = leave(&t, s, net, opt, code);
    json_decref(t.result.history);
    checkpoints_close(&t.kept);
    source_close(&t.data);
    free(t.note);
    gr_close(t.ctx);
    return code;
}

static int run_train(int argc, char **argv)
{
    train_asks asks = {.run = {.seed = 1}};
    settings *s = &asks.run;
    const char *name;
    options_end end = options_parse(&train_command, &asks, argc, argv, &name);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (asks.list) {
        recipe_list();
        return 0;
    }
    const recipe *r = settings_recipe(s, name, "train");
    if (!r)
        return GR_USAGE;
    if (asks.explain) {
        recipe_explain(r);
        return 0;
    }
    stop_catch();
    const optimizer_set used = settings_optimizers(s, r);
    int code = settings_check(s, r, "train", &used);
    if (code == 0)
        code = checkpoints_check(s, "train");
    if (code == 0)
        code = settings_check_inputs(s, "train");
    if (code == 0)
        code = check_outputs(s);
    if (code == 0)
        code = source_check_outside(s, r, s->checkpoint, "checkpoint", "train");
    if (code == 0)
        code = ranks_check(s, "train");
    if (code == 0)
        code = repeats_check(s, "train");
    if (code == 0 && s->batch == BATCH_AUTO)
        code = auto_batch(s, r, "train", &asks.run.batch);
    if (code)
        return code;
    if (s->runs)
        return repeats_make(s, r, run_rank, "train");
    const resolved whole = settings_resolve(s, r);
    return ranks_run(&whole, run_rank, NULL, "train");
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static const option_group groups[] = {
    CELL_GROUP("The run", offsetof(train_asks, run)),
    SETTINGS_GROUP("Updates that --batch alone does not tell", settings_batches, offsetof(train_asks, run)),
    SETTINGS_GROUP("The protocol", settings_protocol, offsetof(train_asks, run)),
    PARAMETERS_GROUP("The optimizer", offsetof(train_asks, run)),
    SETTINGS_GROUP("The machine", settings_machine, offsetof(train_asks, run)),
    SETTINGS_GROUP("What it takes of the machine", settings_usage, offsetof(train_asks, run)),
    {"Several seeds", run_options, NULL, 0},
    {"Several ranks", rank_options, NULL, 0},
    {"Evaluation", evaluation_options, NULL, 0},
    SETTINGS_GROUP("Stopping and going on", settings_checkpoints, offsetof(train_asks, run)),
    {"Output", file_options, NULL, 0},
    {"Instead of training", ask_options, NULL, 0},
    {0}};

const gradus_command train_command = {
    .name = "train",
    .purpose = "train one network: a published experiment's, or your own",
    .usage = "train RECIPE [options]\ntrain --data FOLDER [options]\ntrain --list",
    .operand = "RECIPE",
    .operand_name = recipe_name,
    .about =
        "Train one network of a published experiment and tell how well it does. Without RECIPE: on the pictures in the "
        "class folders of FOLDER, any number of classes. Progress goes to stderr, the result "
        "to stdout. An interrupted run (Ctrl-C) ends after its current update with exit code 75; with --checkpoint the "
        "same command and --resume goes on as if nothing had happened. A run whose loss is not finite ends with 6.",
    .examples = "train cats-vs-dogs --data ~/datasets --batch 16 --optimizer adam\n"
                "train cifar10-cnn --updates 500 --json --log-updates losses.jsonl\n"
                "train resnet18-cifar --checkpoint run --checkpoint-every 10m --resume\n"
                "train cifar10-94 --data ~/datasets --precision bf16 --runs 5\n"
                "train --data flowers --resize 96 --save-weights flowers.safetensors\n"
                "train cats-vs-dogs --explain",
    .groups = groups,
    .run = run_train,
};
