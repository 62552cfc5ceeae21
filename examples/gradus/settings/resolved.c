/* resolved.c - see resolved.h. */
#include "settings/resolved.h"

#include <stdio.h>
#include <string.h>

#include "settings/check.h"
#include "sources/format.h"
#include "terminal/values.h"

/* --- batches ------------------------------------------------------------------------------------------------------ */

/* "30:320" */
static bool read_stage(char *word, gr_batch_stage *stage)
{
    char *colon = strchr(word, ':');
    if (!colon)
        return false;
    *colon = '\0';
    return parse_count(word, 0, 1000000, &stage->epoch) && parse_count(colon + 1, 1, MAX_BATCH, &stage->batch);
}

int read_stages(const char *text, gr_batch_stage *stages)
{
    char word[32];
    int n = 0;
    while (next_entry(&text, word)) {
        if (n == MAX_STAGES || !read_stage(word, &stages[n]))
            return 0;
        if (n == 0 ? stages[0].epoch != 0 : stages[n].epoch <= stages[n - 1].epoch)
            return 0;
        n++;
    }
    return n;
}

/* What stands behind the names and the last "="; NULL: text is not of this form. */
static const char *read_names(const char *text, char names[NAMES_SIZE])
{
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text || equals - text >= NAMES_SIZE)
        return NULL;
    snprintf(names, NAMES_SIZE, "%.*s", (int)(equals - text), text);
    return equals + 1;
}

bool read_lr_scale(const char **text, char names[NAMES_SIZE], double *scale)
{
    char piece[NAMES_SIZE];
    const size_t length = strcspn(*text, ";");
    snprintf(piece, sizeof piece, "%.*s", (int)length, *text);
    *text += length + ((*text)[length] != '\0');
    const char *rest = length < sizeof piece ? read_names(piece, names) : NULL;
    return rest && parse_positive(rest, scale);
}

bool read_freeze_after(const char *text, char names[NAMES_SIZE], int64_t *epochs)
{
    const char *rest = read_names(text, names);
    return rest && parse_count(rest, 1, 1000000, epochs);
}

bool read_lookahead(const char *text, gr_lookahead *lookahead)
{
    char every[16], decay[32], grows[16];
    amount share = {0};
    *lookahead = (gr_lookahead){0};
    if (strcmp(text, "none") == 0)
        return true;
    const int words = sscanf(text, "%15[^:]:%31[^:]%15[^\n]", every, decay, grows);
    if (words < 2 || !parse_count(every, 1, 1000000, &lookahead->every) || !parse_amount(decay, &share))
        return false;
    lookahead->decay = share.value;
    lookahead->grows = words == 3;
    return share.value < 1 && (words == 2 || strcmp(grows, ":grows") == 0);
}

static void resolve_batch(resolved *s)
{
    const settings *asked = &s->asked;
    if (asked->batch_schedule)
        s->n_stages = read_stages(asked->batch_schedule, s->stages);
    s->batch = s->n_stages > 0 ? s->stages[0].batch : asked->batch ? asked->batch : s->recipe->batch;
    s->micro_batch = asked->micro_batch;
    if (asked->accumulate > 0) {
        s->micro_batch = s->batch;
        s->batch *= asked->accumulate;
    }
    if (asked->noise_scale && s->micro_batch == 0)
        s->micro_batch = (s->batch + 1) / 2;
}

/* --- the optimizer ------------------------------------------------------------------------------------------------ */

static amount asked_for(const settings *asked, const char *name)
{
    return option_number(&parameter_options()[parameter_place(name)], asked->parameters);
}

/* What a recipe has for an optimizer, by its own name or by that of the one that it is like. */
static const recipe_optimizer *numbers_of(const recipe *r, const optimizer *o)
{
    const recipe_optimizer *own = recipe_optimizer_named(r, o->name);
    return own ? own : recipe_optimizer_named(r, o->like);
}

/* What a recipe has for an optimizer's rate; NULL: nothing, the optimizer has its own. */
static const recipe_optimizer *rate_of(const recipe *r, const optimizer *o)
{
    const recipe_optimizer *own = recipe_optimizer_named(r, o->name);
    return own ? own : o->lr > 0 ? NULL : recipe_optimizer_named(r, o->like);
}

void resolve_parameters(const settings *asked, const recipe *r, const optimizer *o, double values[OPTIMIZER_PARAMETERS])
{
    const recipe_optimizer *of_recipe = numbers_of(r, o);
    for (int i = 0; o->parameters[i].parameter; i++) {
        const parameter *p = o->parameters[i].parameter;
        const amount given = asked_for(asked, p->name);
        const double *number = recipe_number(of_recipe, p->name);
        /* a momentum of the user's own comes without the recipe's Nesterov */
        const bool bare = p->beside && asked_for(asked, p->beside).given;
        values[i] = given.given ? given.value : bare ? 0 : number ? *number : o->parameters[i].usual;
    }
}

static void resolve_optimizer(resolved *s)
{
    const optimizer *o = s->optimizer = settings_optimizers(&s->asked, s->recipe).list[0];
    const recipe_optimizer *of_recipe = rate_of(s->recipe, o);
    s->lr = s->asked.lr > 0 ? s->asked.lr : of_recipe ? of_recipe->lr : o->lr;
    if (of_recipe && !s->asked.lr_scale && !s->asked.model)
        s->asked.lr_scale = of_recipe->lr_scale;
    s->base_batch = s->asked.base_batch;
    if (s->asked.lr_rule.given)
        s->lr = gr_lr_for_batch((gr_lr_rule)s->asked.lr_rule.value, s->lr, s->batch, s->base_batch);
    resolve_parameters(&s->asked, s->recipe, o, s->parameters);
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static choice usual_choice(choice asked, int usual)
{
    return (choice){true, asked.given ? asked.value : usual};
}

/* Drawn weights alone are made to whiten. */
static void take_recipe_options(settings *s, const recipe *r)
{
    for (const recipe_option *o = r->options; o->option; o++)
        option_default(settings_protocol, s, o->option, o->value);
    for (const recipe_option *o = r->net_options; o->option && !s->model; o++)
        if (!(s->init_weights && strcmp(o->option, "whiten") == 0))
            option_default(settings_protocol, s, o->option, o->value);
}

/* A budget of epochs or updates is --epochs or --updates: the same run, known by the same words. */
static void take_budget(settings *s)
{
    run_budget b;
    if (!s->budget || !read_budget(s->budget, &b) || b.samples > 0 || b.seconds > 0)
        return;
    s->epochs = b.epochs;
    s->updates = b.updates;
    s->budget = NULL;
}

settings settings_shared(const settings *asked, const recipe *r)
{
    settings s = *asked;
    take_recipe_options(&s, r);
    s.lr_schedule = usual_choice(s.lr_schedule, (int)r->lr_schedule);
    const gr_schedule_kind kind = (gr_schedule_kind)s.lr_schedule.value;
    if (s.lr_every == 0 && (kind == GR_STEPS || kind == GR_TRIANGULAR))
        s.lr_every = kind == GR_STEPS ? 30 : 2;
    if (s.lr_gamma == 0 && kind == GR_STEPS)
        s.lr_gamma = 0.1;
    if (s.base_batch == 0 && s.lr_rule.given)
        s.base_batch = 32;
    take_budget(&s);
    if (s.epochs == 0 && s.updates == 0 && !s.budget)
        s.epochs = r->epochs;
    if (s.split_seed == 0 && r->format->own)
        s.split_seed = 1; /* files of one's own may be numbered as they were taken */
    s.last_batch = usual_choice(s.last_batch, (int)r->last_batch);
    if (!s.augment)
        s.augment = r->augment ? r->augment : "none";
    if (strcmp(s.augment, "published") == 0 && r->published_augment)
        s.augment = r->published_augment;
    return s;
}

resolved settings_resolve(const settings *asked, const recipe *r)
{
    resolved s = {.recipe = r, .asked = settings_shared(asked, r)};
    resolve_batch(&s);
    resolve_optimizer(&s);
    if (!s.asked.budget || !read_budget(s.asked.budget, &s.budget))
        s.budget = (run_budget){.epochs = s.asked.epochs, .updates = s.asked.updates};
    s.schedule = (gr_schedule){.kind = (gr_schedule_kind)s.asked.lr_schedule.value,
                               .every = s.asked.lr_every,
                               .gamma = s.asked.lr_gamma,
                               .lr_min = s.asked.lr_min.value,
                               .warm_up = s.asked.warm_up.value,
                               .warm_up_from = s.asked.warm_up_from.value};
    s.last_batch = (gr_last_batch)s.asked.last_batch.value;
    if (s.asked.lookahead)
        read_lookahead(s.asked.lookahead, &s.lookahead);
    if (s.asked.freeze_after)
        read_freeze_after(s.asked.freeze_after, s.freeze_later, &s.freeze_epochs);
    if (s.asked.tta)
        read_views(s.asked.tta, &s.tta);
    s.target = s.asked.target_accuracy / 100;
    s.augment = s.asked.augment;
    s.val_share = s.asked.val_share.given ? s.asked.val_share.value : 0.1;
    s.test_share = s.asked.test_share.given ? s.asked.test_share.value : 0.2;
    return s;
}

/* --- what is made of it ------------------------------------------------------------------------------------------- */

gr_options settings_context(const settings *asked, bool plan_only)
{
    return (gr_options){.device = *asked->gpu           ? asked->gpu
                                  : asked->device.given ? device_names[asked->device.value]
                                                        : NULL,
                        .seed = (uint64_t)asked->seed,
                        .threads = (int)asked->threads,
                        .memory_limit = asked->memory_limit,
                        .precision = asked->precision.given ? precisions[asked->precision.value].precision
                                                            : GR_PRECISION_DEFAULT,
                        .plan_only = plan_only,
                        .no_fusion = asked->no_fusion};
}

gr_context *settings_open(const settings *asked, bool plan_only)
{
    const gr_options options = settings_context(asked, plan_only);
    return gr_open(&options);
}

gr_context *resolved_open(const resolved *s, bool plan_only)
{
    return settings_open(&s->asked, plan_only);
}

static int classes_of(const resolved *s, const gr_dataset *set)
{
    enum { USUAL = 2 };
    if (s->recipe->classes)
        return s->recipe->classes;
    return s->asked.classes ? (int)s->asked.classes : set ? gr_dataset_classes(set) : USUAL;
}

/* The last layer for other classes; one logit tells two apart already. */
static void replace_head(const resolved *s, gr_module *net, const gr_dataset *set)
{
    const int64_t asked = s->asked.replace_head;
    const int classes = set ? gr_dataset_classes(set) : 0;
    if (asked > 0)
        gr_module_set_outputs(net, (int)asked);
    else if (asked == HEAD_AUTO && classes > 0 && !(classes == 2 && gr_module_outputs(net) == 1))
        gr_module_set_outputs(net, classes);
}

gr_module *resolved_net(const resolved *s, gr_context *ctx, const gr_dataset *set)
{
    const int classes = classes_of(s, set);
    gr_module *net = s->asked.model ? gr_model_from_file(ctx, s->asked.model, classes) : s->recipe->net(ctx, classes);
    replace_head(s, net, set);
    return net;
}

gr_module *resolved_built_net(const resolved *s, gr_context *ctx, const gr_dataset *set)
{
    int64_t shape[3];
    gr_module *net = resolved_net(s, ctx, set);
    gr_dataset_shape(set, shape);
    gr_module_build(net, 3, shape);
    if (s->asked.freeze)
        gr_module_freeze(net, s->asked.freeze);
    if (s->asked.freeze_statistics)
        gr_module_freeze_statistics(net, s->asked.freeze);
    return net;
}

static void set_head_lr(gr_optimizer *opt, gr_module *net, double scale)
{
    char pattern[96];
    snprintf(pattern, sizeof pattern, "%s.*", gr_module_head(net));
    gr_set_lr_scale(opt, pattern, scale);
}

/* The rate alone: what decay takes from a parameter in an update is rate times decay. */
static void set_lr_scales(gr_optimizer *opt, const char *text)
{
    char names[NAMES_SIZE];
    double scale;
    while (*text && read_lr_scale(&text, names, &scale)) {
        gr_set_lr_scale(opt, names, scale);
        gr_set_decay_scale(opt, names, 1 / scale);
    }
}

gr_optimizer *resolved_optimizer(const resolved *s, gr_context *ctx, gr_module *net)
{
    gr_optimizer *opt = s->optimizer->make(ctx, net, s->lr, s->parameters);
    if (s->asked.head_lr > 0)
        set_head_lr(opt, net, s->asked.head_lr / s->lr);
    if (s->asked.lr_scale)
        set_lr_scales(opt, s->asked.lr_scale);
    gr_set_clip(opt, s->asked.clip_norm.value);
    gr_set_lookahead(opt, &s->lookahead);
    gr_set_ema(opt, s->asked.ema.value);
    gr_set_decay_weights_only(opt, s->asked.decay_weights_only);
    return opt;
}

int64_t resolved_micro_batch(const resolved *s)
{
    const int64_t shards = s->asked.shards ? s->asked.shards : 1, largest = (s->batch + shards - 1) / shards;
    return s->micro_batch && s->micro_batch < largest ? s->micro_batch : largest;
}

preload resolved_preload(const resolved *s)
{
    return (preload)s->asked.preload.value;
}

gr_fit_options resolved_fit(const resolved *s)
{
    const settings *asked = &s->asked;
    return (gr_fit_options){.batch = s->batch,
                            .micro_batch = s->micro_batch,
                            .shards = (int)asked->shards,
                            .synchronised = settings_synchronised(asked),
                            .stages = s->stages,
                            .n_stages = s->n_stages,
                            .epochs = s->budget.epochs,
                            .updates = s->budget.updates,
                            .samples = s->budget.samples,
                            .seconds = s->budget.seconds,
                            .last = s->last_batch,
                            .order = asked->no_shuffle ? GR_IN_ORDER : GR_SHUFFLED,
                            .no_graph = asked->no_graph,
                            .metrics_every = asked->metrics_every,
                            .workers = (int)asked->workers,
                            .prefetch = (int)asked->prefetch,
                            .on_device = resolved_preload(s) == PRELOAD_DEVICE,
                            .label_smoothing = asked->label_smoothing.value,
                            .freeze_later = s->freeze_epochs ? s->freeze_later : NULL,
                            .freeze_epochs = s->freeze_epochs,
                            .test_each_epoch = s->target > 0,
                            .noise_scale = asked->noise_scale,
                            .sharpness = asked->sharpness,
                            .schedule = s->schedule};
}

gr_fit_options resolved_fit_updates(const resolved *s, int64_t updates)
{
    gr_fit_options o = resolved_fit(s);
    o.epochs = o.samples = 0;
    o.seconds = 0;
    o.updates = updates;
    o.test_each_epoch = false;
    return o;
}
