/* check.c - see check.h. */
#include "settings/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "settings/resolved.h"
#include "sources/format.h"
#include "terminal/complain.h"
#include "terminal/names.h"
#include "terminal/system.h"

/* "photos/", as shells complete it, is "photos": by that name sweeps and checkpoints know pictures of one's own. */
static void cut_slashes(settings *s)
{
    static char path[4096];
    const size_t n = s->data ? path_length(s->data) : 0;
    if (n == 0 || n >= sizeof path || s->data[n] == '\0')
        return;
    snprintf(path, sizeof path, "%.*s", (int)n, s->data);
    s->data = path;
}

/* Whether the two are a path that a shell has cut at a space. */
static bool is_cut_path(const char *data, const char *name)
{
    char path[4096];
    const name_list names = NAMES(recipes);
    return name_find(names, name) < 0 && snprintf(path, sizeof path, "%s %s", data, name) < (int)sizeof path &&
           (is_folder(path) || is_readable_file(path));
}

const recipe *settings_recipe(settings *s, const char *name, const char *command)
{
    cut_slashes(s);
    const bool own = !name && (s->model || (s->data && !s->procedural));
    if (name && s->data && is_cut_path(s->data, name)) {
        complain(GR_USAGE, command, "a name with spaces wants quotes: --data \"%s %s\"", s->data, name);
        return NULL;
    }
    return recipe_find(own ? "own-pictures" : name, command);
}

optimizer_set settings_optimizers(const settings *s, const recipe *r)
{
    return (optimizer_set){{s->optimizer.given ? &optimizers[s->optimizer.value] : optimizer_named(r->optimizer)}, 1};
}

/* --- optimizers --------------------------------------------------------------------------------------------------- */

static bool any_takes(const optimizer_set *used, const char *name)
{
    for (int i = 0; i < used->n; i++)
        if (optimizer_takes(used->list[i], name) >= 0)
            return true;
    return false;
}

/* An option that is given although no optimizer takes it. */
static int check_taken(const settings *s, const char *command, const optimizer_set *used)
{
    char text[256];
    for (const option *o = parameter_options(); o->name; o++) {
        if (!option_number(o, s->parameters).given || any_takes(used, o->name))
            continue;
        if (used->n == 1)
            return complain(GR_USAGE, command, "--%s is for %s; %s does not take it", o->name,
                            optimizers_with(o->name, text), used->list[0]->name);
        return complain(GR_USAGE, command, "--%s is for %s; none of them is asked for", o->name,
                        optimizers_with(o->name, text));
    }
    return 0;
}

/* A parameter that is given with a value that cannot be, or without the one that it needs beside it. */
static int check_parameter(const settings *s, const recipe *r, const char *command, const optimizer *used,
                           const parameter *p)
{
    const int place = parameter_place(p->name);
    const amount given = option_number(&parameter_options()[place], s->parameters);
    double values[OPTIMIZER_PARAMETERS];
    if (given.given && p->below > 0 && given.value >= p->below)
        return complain(GR_USAGE, command, "--%s %g: it must be below %g", p->name, given.value, p->below);
    if (!given.given || !p->beside)
        return 0;
    resolve_parameters(s, r, used, values);
    return values[optimizer_takes(used, p->beside)] > 0
               ? 0
               : complain(GR_USAGE, command, "--%s needs a --%s, such as 0.9", p->name, p->beside);
}

static int check_optimizers(const settings *s, const recipe *r, const char *command, const optimizer_set *used)
{
    int code = check_taken(s, command, used);
    for (int i = 0; i < used->n; i++)
        for (const optimizer_parameter *own = used->list[i]->parameters; code == 0 && own->parameter; own++)
            code = check_parameter(s, r, command, used->list[i], own->parameter);
    return code;
}

void settings_keep(settings *s, const optimizer *o)
{
    for (const option *p = parameter_options(); p->name; p++)
        if (optimizer_takes(o, p->name) < 0)
            option_forget(p, s->parameters);
}

/* --- the course of the run ---------------------------------------------------------------------------------------- */

static int check_schedules(const settings *s, const recipe *r, const char *command)
{
    const gr_schedule_kind kind = s->lr_schedule.given ? (gr_schedule_kind)s->lr_schedule.value : r->lr_schedule;
    if (s->lr_every && kind != GR_STEPS && kind != GR_TRIANGULAR)
        return complain(GR_USAGE, command, "--lr-every is for --lr-schedule steps or triangular");
    if (s->lr_gamma > 0 && kind != GR_STEPS)
        return complain(GR_USAGE, command, "--lr-gamma is for --lr-schedule steps");
    if (s->lr_min.given && (kind == GR_STEPS || kind == GR_CONSTANT))
        return complain(GR_USAGE, command, "--lr-min is for --lr-schedule cosine, linear or triangular");
    if (s->warm_up_from.value > 1)
        return complain(GR_USAGE, command, "--warm-up-from %g: it is a share of the rate, at most 1",
                        s->warm_up_from.value);
    if (s->warm_up_from.given && settings_shared(s, r).warm_up.value == 0)
        return complain(GR_USAGE, command, "--warm-up-from is for --warm-up");
    if (s->base_batch && !s->lr_rule.given)
        return complain(GR_USAGE, command, "--base-batch is for --lr-rule linear or sqrt");
    return 0;
}

static int check_loss(const settings *s, const char *command)
{
    return s->label_smoothing.value < 1
               ? 0
               : complain(GR_USAGE, command, "--label-smoothing %g: it must be below 1, a share of the target",
                          s->label_smoothing.value);
}

static int check_batches(const settings *s, const recipe *r, const char *command)
{
    gr_batch_stage stages[MAX_STAGES];
    if (s->accumulate && (s->micro_batch || s->batch_schedule))
        return complain(GR_USAGE, command, "--accumulate and --%s exclude each other; give one of them",
                        s->micro_batch ? "micro-batch" : "batch-schedule");
    if (s->shards & (s->shards - 1))
        return complain(GR_USAGE, command, "--shards %lld: it must be a power of two, such as 8", (long long)s->shards);
    if (s->shards > 1 && s->noise_scale)
        return complain(GR_USAGE, command, "--shards and --noise-scale exclude each other; measure it without shards");
    if (s->batch_norm.given && s->shards <= 1)
        return complain(GR_USAGE, command, "--batch-norm is for --shards: in one piece a batch has its own statistics");
    if (settings_synchronised(s) && (s->accumulate || s->micro_batch))
        return complain(GR_USAGE, command,
                        "--batch-norm synchronised and --%s exclude each other: shards pass undivided; give more "
                        "--shards",
                        s->accumulate ? "accumulate" : "micro-batch");
    if (s->accumulate && s->batch == BATCH_AUTO)
        return complain(GR_USAGE, command, "--batch auto and --accumulate exclude each other; give --micro-batch");
    if (s->resume && s->batch == BATCH_AUTO)
        return complain(GR_USAGE, command,
                        "--batch auto and --resume exclude each other; give the size that was found");
    if (!s->batch_schedule)
        return 0;
    if (s->batch)
        return complain(GR_USAGE, command, "--batch and --batch-schedule exclude each other; give one of them");
    if (read_stages(s->batch_schedule, stages) == 0)
        return complain(
            GR_USAGE, command,
            "--batch-schedule \"%s\": epochs and batch sizes, the first epoch 0 and each later than the one before, "
            "at most %d, such as 0:64,30:320,60:1600",
            s->batch_schedule, MAX_STAGES);
    const settings all = settings_shared(s, r);
    const gr_schedule_kind kind = all.lr_schedule.value;
    if (all.epochs || (all.updates && kind != GR_COSINE && kind != GR_LINEAR))
        return 0;
    return complain(GR_USAGE, command, "--batch-schedule%s%s goes by epochs; give --epochs, not --%s",
                    all.updates ? " with --lr-schedule " : "", all.updates ? lr_schedule_names[kind] : "",
                    s->updates ? "updates" : "budget");
}

/* --- data --------------------------------------------------------------------------------------------------------- */

/* A plan that makes sense by itself; whether its crops fit is seen when the pictures are there. */
static int check_augment(const settings *s, const recipe *r, const char *command)
{
    if (!s->augment || strcmp(s->augment, "none") == 0)
        return 0;
    if (r->format->features)
        return complain(GR_USAGE, command, "--augment is for pictures; %s has rows of features", r->name);
    if (strcmp(s->augment, "published") == 0)
        return r->published_augment ? 0
                                    : complain(GR_USAGE, command,
                                               "--augment published: %s has no published augmentation; give a plan, "
                                               "such as flip,translate=4",
                                               r->name);
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    const int code = gr_augmentation_check(ctx, s->augment) ? 0 : complain_of(ctx, command);
    gr_close(ctx);
    return code;
}

static int check_shares(const settings *s, const recipe *r, const char *command)
{
    const amount val = s->val_share, test = s->test_share;
    if ((val.given || test.given) && (!r->format->own || s->procedural))
        return complain(GR_USAGE, command, "--%s is for pictures of one's own; the parts of %s are fixed",
                        val.given ? "val-share" : "test-share", s->procedural ? "the built-in ones" : r->name);
    if (val.value + test.value >= 1)
        return complain(GR_USAGE, command,
                        "--val-share %g and --test-share %g leave nothing to train on; together they must be below 1",
                        val.value, test.value);
    if (r->format->own && !s->data && !s->procedural)
        return complain(GR_USAGE, command,
                        "which pictures? --data FOLDER has a folder of them for each class, such as FOLDER/cat and "
                        "FOLDER/dog");
    return 0;
}

static int check_data(const settings *s, const recipe *r, const char *command)
{
    if (s->data && s->procedural)
        return complain(GR_USAGE, command, "--data and --procedural exclude each other; give one of them");
    if (s->filter.given && !r->format->files)
        return complain(GR_USAGE, command, "--filter is for folders of images; %s reads none", r->name);
    if (s->resize && r->format->features)
        return complain(GR_USAGE, command, "--resize is for pictures; %s has rows of features", r->name);
    const int code = check_shares(s, r, command);
    return code ? code : check_augment(s, r, command);
}

static int check_lookahead(const settings *s, const char *command)
{
    gr_lookahead read;
    return !s->lookahead || read_lookahead(s->lookahead, &read)
               ? 0
               : complain(GR_USAGE, command,
                          "--lookahead \"%s\": a number of updates and a decay below 1, such as 5:0.5 or 5:0.5:grows; "
                          "or none",
                          s->lookahead);
}

static int check_averages(const settings *s, const char *command)
{
    return s->ema.value < 1
               ? 0
               : complain(GR_USAGE, command, "--ema %g: the share of what was averaged before, below 1, such as 0.99",
                          s->ema.value);
}

static int check_test(const settings *s, const recipe *r, const char *command)
{
    views read;
    if (s->tta && !read_views(s->tta, &read))
        return complain(GR_USAGE, command,
                        "--tta \"%s\": flip, shift=N up to %d, or both, such as flip,shift=1; or none", s->tta,
                        MAX_SHIFT);
    if (s->tta && r->format->features && views_count(&read) > 1)
        return complain(GR_USAGE, command, "--tta is for pictures; %s has rows of features", r->name);
    if (s->target_accuracy > 0 && (s->target_accuracy < 1 || s->target_accuracy > 100))
        return complain(GR_USAGE, command, "--target-accuracy %g: it is in percent, from 1 to 100, such as 94",
                        s->target_accuracy);
    if (s->no_evaluation && (s->tta || s->target_accuracy > 0))
        return complain(GR_USAGE, command, "--no-evaluation and --%s exclude each other; give one of them",
                        s->tta ? "tta" : "target-accuracy");
    return 0;
}

static int check_transfer(const settings *s, const char *command)
{
    if (s->freeze_statistics && !s->freeze)
        return complain(GR_USAGE, command, "--freeze-statistics goes by the names of --freeze; give these, too");
    if (s->whiten && s->init_weights)
        return complain(GR_USAGE, command, "--whiten and --init-weights exclude each other; give one of them");
    char names[NAMES_SIZE];
    double scale;
    int64_t epochs;
    for (const char *rest = s->lr_scale; rest && *rest;)
        if (!read_lr_scale(&rest, names, &scale))
            return complain(GR_USAGE, command, "--lr-scale \"%s\": names and a number above 0, such as bn*.bias=64",
                            s->lr_scale);
    if (s->freeze_after && !read_freeze_after(s->freeze_after, names, &epochs))
        return complain(GR_USAGE, command, "--freeze-after \"%s\": names and a number of epochs, such as conv1.bias=3",
                        s->freeze_after);
    return 0;
}

/* When the run ends. */
static int check_end(const settings *s, const recipe *r, const char *command)
{
    run_budget b;
    if (s->epochs && s->updates)
        return complain(GR_USAGE, command, "--epochs and --updates exclude each other; give one of them");
    if (!s->budget)
        return 0;
    if (s->epochs || s->updates)
        return complain(GR_USAGE, command, "--budget and --%s exclude each other; give one of them",
                        s->epochs ? "epochs" : "updates");
    if (!read_budget(s->budget, &b))
        return complain(GR_USAGE, command,
                        "--budget \"%s\": it must be epochs=N, updates=N, samples=N or seconds=X, such as "
                        "samples=64000",
                        s->budget);
    const gr_schedule_kind kind = settings_shared(s, r).lr_schedule.value;
    return b.seconds == 0 || (kind != GR_COSINE && kind != GR_LINEAR)
               ? 0
               : complain(GR_USAGE, command,
                          "--budget %s: --lr-schedule %s has to know where the run ends; give samples=N, or another "
                          "schedule",
                          s->budget, lr_schedule_names[kind]);
}

int settings_check(const settings *s, const recipe *r, const char *command, const optimizer_set *used)
{
    int code = check_end(s, r, command);
    if (code == 0)
        code = check_batches(s, r, command);
    if (code == 0)
        code = check_optimizers(s, r, command, used);
    if (code == 0)
        code = check_schedules(s, r, command);
    if (code == 0)
        code = check_loss(s, command);
    if (code == 0)
        code = check_lookahead(s, command);
    if (code == 0)
        code = check_averages(s, command);
    if (code == 0)
        code = check_test(s, r, command);
    if (code == 0)
        code = check_transfer(s, command);
    return code ? code : check_data(s, r, command);
}

/* A model's text, before any data are read; whether it fits them is seen when they are there. */
static int check_model(const char *path, const char *command)
{
    enum { ANY_CLASSES = 2 };
    gr_context *ctx = gr_open(&(gr_options){.device = "ref", .plan_only = true});
    const int code = gr_model_from_file(ctx, path, ANY_CLASSES) ? 0 : complain_of(ctx, command);
    gr_close(ctx);
    return code;
}

int settings_check_inputs(const settings *s, const char *command)
{
    if (s->init_weights && !is_readable_file(s->init_weights))
        return complain(GR_BAD_DATA, command, "--init-weights %s: %s", s->init_weights,
                        is_folder(s->init_weights) ? "it is a folder" : strerror(errno));
    return s->model ? check_model(s->model, command) : 0;
}
