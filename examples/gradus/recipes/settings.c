/* settings.c - see settings.h. */
#include "recipes/settings.h"

#include <errno.h>
#include <string.h>

static gr_precision precision_of(const char *name)
{
    int i = 0;
    while (name && strcmp(name, precision_names[i]))
        i++;
    return name ? (gr_precision)(GR_PRECISION_FP32 + i) : GR_PRECISION_DEFAULT;
}

static const char *const preload_names[] = {"ram", "none", "device", NULL};
static const char *const adam_forms[] = {"keras", "pytorch", NULL};

#define AT(field) offsetof(settings, field)

const option settings_cell[] = {
    {"batch", "N", OPTION_COUNT, AT(batch), "samples per update (default: the recipe's)", 1, MAX_BATCH, NULL},
    {"optimizer", "NAME", OPTION_CHOICE, AT(optimizer), OPTIMIZER_HELP, 0, 0, optimizer_names},
    {"seed", "N", OPTION_COUNT, AT(seed), "draws the initial weights and the order of the samples (default: 1)", 0,
     INT64_MAX, NULL},
    {0},
};

const option settings_batches[] = {
    {"batch-schedule", "LIST", OPTION_TEXT, AT(batch_schedule),
     "batch sizes by epoch, such as 0:64,30:320,60:1600: the batch grows where the rate would fall", 0, 0, NULL},
    {"accumulate", "K", OPTION_COUNT, AT(accumulate),
     "an update is made of K micro-batches of --batch samples: its batch size is K times as large, its memory is not",
     1, 65536, NULL},
    {0},
};

const option settings_protocol[] = {
    {"micro-batch", "N", OPTION_COUNT, AT(micro_batch),
     "the most samples in memory at a time; a larger batch is taken in pieces whose gradients add up to its own (batch "
     "normalisation sees each piece alone)",
     1, MAX_BATCH, NULL},
    {"lr", "X", OPTION_POSITIVE, AT(lr), "learning rate (default: the recipe's for the optimizer)", 0, 0, NULL},
    {"momentum", "X", OPTION_AMOUNT, AT(momentum),
     "from 0 to below 1 (default: the recipe's, else 0 of sgd and 0.9 of momentum, lars and sam)", 0, 0, NULL},
    {"nesterov", NULL, OPTION_FLAG, AT(nesterov), "with --momentum: Nesterov's form", 0, 0, NULL},
    {"weight-decay", "X", OPTION_AMOUNT, AT(weight_decay),
     "adds X times each parameter to its gradient; of adamw, X times the rate, taken off beside the step (default: the "
     "recipe's, else 0; of adamw 0.01)",
     0, 0, NULL},
    {"decay-weights-only", NULL, OPTION_FLAG, AT(decay_weights_only),
     "no weight decay on biases and on batch normalisation's scales and shifts", 0, 0, NULL},
    {"clip-norm", "X", OPTION_POSITIVE, AT(clip_norm),
     "scale the gradients down to this norm, all together, where it is larger", 0, 0, NULL},
    {"lr-schedule", "NAME", OPTION_CHOICE, AT(lr_schedule),
     "how the learning rate goes on: constant, cosine or linear (to --lr-min at the end of the run), steps, or triangular "
     "(from --lr-min up and down) (default: the recipe's)",
     0, 0, lr_schedule_names},
    {"lr-min", "X", OPTION_AMOUNT, AT(lr_min), "with cosine, linear and triangular: the lowest rate (default: 0)", 0, 0,
     NULL},
    {"lr-every", "EPOCHS", OPTION_COUNT, AT(lr_every),
     "with steps: epochs between two of them (default: 30); with triangular: epochs up, and down (default: 2)", 1,
     1000000, NULL},
    {"lr-gamma", "X", OPTION_POSITIVE, AT(lr_gamma), "with steps: what each multiplies the rate by (default: 0.1)", 0,
     0, NULL},
    {"warm-up", "EPOCHS", OPTION_POSITIVE, AT(warm_up),
     "epochs, whole or not, in which the rate first grows in a straight line", 0, 0, NULL},
    {"lr-rule", "RULE", OPTION_CHOICE, AT(lr_rule),
     "what the batch size does to the rate: none, linear (in proportion) or sqrt (to its root) (default: none)", 0, 0,
     lr_rule_names},
    {"base-batch", "N", OPTION_COUNT, AT(base_batch), "with --lr-rule: the batch size that --lr is for (default: 32)",
     1, MAX_BATCH, NULL},
    {"lars-trust", "X", OPTION_POSITIVE, AT(lars_trust), "of lars (default: 0.001)", 0, 0, NULL},
    {"sam-rho", "X", OPTION_POSITIVE, AT(sam_rho), "of sam: how far it climbs (default: 0.05)", 0, 0, NULL},
    {"prox-gamma", "X", OPTION_POSITIVE, AT(prox_gamma),
     "of prox: its pull towards where the update began (default: 1)", 0, 0, NULL},
    {"prox-steps", "N", OPTION_COUNT, AT(prox_steps), "of prox: steps on each batch (default: 5)", 1, 1000, NULL},
    {"noise-scale", NULL, OPTION_FLAG, AT(noise_scale),
     "measure the gradient noise scale and put it in every epoch's line (without --micro-batch in two halves of a batch)",
     0, 0, NULL},
    {"sharpness", "EPSILON", OPTION_POSITIVE, AT(sharpness),
     "measure after every epoch how much the training loss can rise within EPSILON of each weight (usual: 1e-3): eleven more "
     "passes",
     0, 0, NULL},
    {"adam-form", "FORM", OPTION_CHOICE, AT(adam_form),
     "where Adam's epsilon stands: keras (outside the bias correction) or pytorch (default: keras)", 0, 0, adam_forms},
    {"adam-epsilon", "X", OPTION_POSITIVE, AT(adam_epsilon), "(default: 1e-7 for keras, 1e-8 for pytorch)", 0, 0, NULL},
    {"epochs", "N", OPTION_COUNT, AT(epochs), "passes over the training set (default: the recipe's)", 1, 1000000, NULL},
    {"updates", "N", OPTION_COUNT, AT(updates), "stop after so many updates instead", 1, INT64_MAX / 2, NULL},
    {"last-batch", "POLICY", OPTION_CHOICE, AT(last_batch),
     "what becomes of a short last batch: keep, drop, pad (with samples of weight 0) or wrap (from the epoch's start) "
     "(default: the recipe's)",
     0, 0, last_batch_names},
    {"no-shuffle", NULL, OPTION_FLAG, AT(no_shuffle), "take the samples in the data set's order, every epoch", 0, 0,
     NULL},
    {"no-fusion", NULL, OPTION_FLAG, AT(no_fusion), "build the network from single operations only", 0, 0, NULL},
    {"split-seed", "N", OPTION_COUNT, AT(split_seed),
     "permute the files before they are split (default: numeric file order)", 1, INT64_MAX, NULL},
    {"filter", "NAME", OPTION_CHOICE, AT(filter), FILTER_HELP, 0, 0, filter_names},
    {"resize", "SIDE", OPTION_COUNT, AT(resize),
     "resize the pictures to SIDE x SIDE by nearest neighbour (default: the recipe's size)", 1, 4096, NULL},
    {"augment", "PLAN", OPTION_TEXT, AT(augment), AUGMENT_HELP, 0, 0, NULL},
    {"init-weights", "FILE", OPTION_TEXT, AT(init_weights), "start from these weights (safetensors)", 0, 0, NULL},
    {"device", "NAME", OPTION_CHOICE, AT(device), DEVICE_HELP, 0, 0, device_names},
    {"precision", "NAME", OPTION_CHOICE, AT(precision), PRECISION_HELP, 0, 0, precision_names},
    {"memory-limit", "BYTES", OPTION_BYTES, AT(memory_limit),
     "the most that tensors may take together, such as 512M or 2G (default: none)", 0, 0, NULL},
    {0},
};

const option settings_machine[] = {
    {"data", "PATH", OPTION_TEXT, AT(data),
     "where the data sets are; or the set itself: a folder, an archive as it was fetched, a packed set (.grd) "
     "(default: $GRADUS_DATA, else ./datasets)",
     0, 0, NULL},
    {"procedural", NULL, OPTION_FLAG, AT(procedural),
     "train on built-in pictures drawn by formula instead: two classes, no download, never mixed up with the real data",
     0, 0, NULL},
    {"threads", "N", OPTION_COUNT, AT(threads),
     "the results do not depend on it (default, and at most: all this process may use)", 1, 1024, NULL},
    {"workers", "N", OPTION_COUNT, AT(workers),
     "threads that make batches ahead of the training; the batches are the same (default: up to 8 where a GPU computes, else "
     "none: the training's own threads make each batch when it is its turn)",
     1, GR_MAX_WORKERS, NULL},
    {"prefetch", "N", OPTION_COUNT, AT(prefetch), "batches that the workers may be ahead (default: 2)", 1,
     GR_MAX_PREFETCH, NULL},
    {"preload", "WHERE", OPTION_CHOICE, AT(preload),
     "where the pictures are kept: none (only the list of files; each is decoded when a batch wants it), ram, or device "
     "(batches are then made there, of indices) (default: ram)",
     0, 0, preload_names},
    {"preload-limit", "BYTES", OPTION_BYTES, AT(preload_limit),
     "the most that the pictures of a folder or an archive may take in ram (default: three quarters of the machine's memory)",
     0, 0, NULL},
    {"no-graph", NULL, OPTION_FLAG, AT(no_graph),
     "ask for every kernel of every update, also where the device could repeat the update as a whole (cuda, simt)", 0,
     0, NULL},
    {0},
};

/* "0:64,30:320": returns how many stages there are, 0 where text is none. */
static int read_stages(const char *text, gr_batch_stage *stages)
{
    int n = 0;
    while (n < MAX_STAGES) {
        char word[32];
        size_t length = strcspn(text, ","), colon = strcspn(text, ":");
        if (colon >= length || length >= sizeof word)
            return 0;
        memcpy(word, text, length);
        word[length] = word[colon] = '\0';
        gr_batch_stage *stage = &stages[n++];
        if (!parse_count(word, 0, 1000000, &stage->epoch) ||
            !parse_count(word + colon + 1, 1, MAX_BATCH, &stage->batch))
            return 0;
        if (n == 1 ? stage->epoch != 0 : stage->epoch <= stage[-1].epoch)
            return 0;
        if (!text[length])
            return n;
        text += length + 1;
    }
    return 0;
}

/* An option that is given although no optimizer takes it. */
static int check_takes(const settings *s, const char *command, unsigned takes)
{
    const struct {
        bool given;
        unsigned by;
        const char *name, *optimizers;
    } tied[] = {{s->momentum.given, TAKES_MOMENTUM, "momentum", "sgd, momentum, lars and sam"},
                {s->nesterov, TAKES_NESTEROV, "nesterov", "sgd, momentum and sam"},
                {s->weight_decay.given, TAKES_DECAY, "weight-decay", "all but prox"},
                {s->adam_form != NULL, TAKES_ADAM, "adam-form", "adam and adamw"},
                {s->adam_epsilon > 0, TAKES_ADAM, "adam-epsilon", "adam and adamw"},
                {s->lars_trust > 0, TAKES_TRUST, "lars-trust", "lars"},
                {s->sam_rho > 0, TAKES_RHO, "sam-rho", "sam"},
                {s->prox_gamma > 0, TAKES_GAMMA, "prox-gamma", "prox"},
                {s->prox_steps > 0, TAKES_GAMMA, "prox-steps", "prox"}};
    for (size_t i = 0; i < sizeof tied / sizeof *tied; i++)
        if (tied[i].given && !(takes & tied[i].by))
            return complain(GR_USAGE, command, "--%s is for the optimizers %s", tied[i].name, tied[i].optimizers);
    return 0;
}

void settings_keep(settings *s, unsigned takes)
{
    if (!(takes & TAKES_MOMENTUM))
        s->momentum = (amount){0};
    if (!(takes & TAKES_NESTEROV))
        s->nesterov = false;
    if (!(takes & TAKES_DECAY))
        s->weight_decay = (amount){0};
    if (!(takes & TAKES_ADAM)) {
        s->adam_form = NULL;
        s->adam_epsilon = 0;
    }
    if (!(takes & TAKES_TRUST))
        s->lars_trust = 0;
    if (!(takes & TAKES_RHO))
        s->sam_rho = 0;
    if (!(takes & TAKES_GAMMA)) {
        s->prox_gamma = 0;
        s->prox_steps = 0;
    }
}

static int check_schedules(const settings *s, const recipe *r, const char *command)
{
    const char *schedule = s->lr_schedule ? s->lr_schedule : r->lr_schedule;
    const gr_schedule_kind kind = lr_schedule_of(schedule);
    gr_batch_stage stages[MAX_STAGES];
    if (s->lr_every && kind != GR_STEPS && kind != GR_TRIANGULAR)
        return complain(GR_USAGE, command, "--lr-every is for --lr-schedule steps or triangular");
    if (s->lr_gamma > 0 && kind != GR_STEPS)
        return complain(GR_USAGE, command, "--lr-gamma is for --lr-schedule steps");
    if (s->lr_min.given && (kind == GR_STEPS || kind == GR_CONSTANT))
        return complain(GR_USAGE, command, "--lr-min is for --lr-schedule cosine, linear or triangular");
    if (s->base_batch && !s->lr_rule)
        return complain(GR_USAGE, command, "--base-batch is for --lr-rule linear or sqrt");
    if (!s->batch_schedule)
        return 0;
    if (read_stages(s->batch_schedule, stages) == 0)
        return complain(
            GR_USAGE, command,
            "--batch-schedule \"%s\": epochs and batch sizes, the first epoch 0 and each later than the one before, "
            "at most %d, such as 0:64,30:320,60:1600",
            s->batch_schedule, MAX_STAGES);
    return s->updates ? complain(GR_USAGE, command, "--batch-schedule goes by epochs; give --epochs, not --updates")
                      : 0;
}

/* A plan that makes sense by itself; whether its crops fit is seen when the pictures are there. */
static int check_augment(const settings *s, const recipe *r, const char *command)
{
    if (!s->augment || strcmp(s->augment, "none") == 0)
        return 0;
    if (r->format == RECIPE_TABLE)
        return complain(GR_USAGE, command, "--augment is for pictures; %s has rows of features", r->name);
    if (strcmp(s->augment, "published") == 0)
        return r->published_augment ? 0
                                    : complain(GR_USAGE, command,
                                               "--augment published: %s has no published augmentation; "
                                               "give a plan, such as flip,translate=4",
                                               r->name);
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    const int code = gr_augmentation_check(ctx, s->augment) ? 0 : complain_of(ctx, command);
    gr_close(ctx);
    return code;
}

int settings_check(const settings *s, const recipe *r, const char *command, unsigned takes)
{
    if (s->epochs && s->updates)
        return complain(GR_USAGE, command, "--epochs and --updates exclude each other; give one of them");
    if (s->data && s->procedural)
        return complain(GR_USAGE, command, "--data and --procedural exclude each other; give one of them");
    if (s->filter && r->format != RECIPE_IMAGE_FOLDER)
        return complain(GR_USAGE, command, "--filter is for folders of images; %s reads none", r->name);
    if (s->resize && r->format == RECIPE_TABLE)
        return complain(GR_USAGE, command, "--resize is for pictures; %s has rows of features", r->name);
    int code = check_takes(s, command, takes);
    if (code == 0)
        code = check_schedules(s, r, command);
    if (code)
        return code;
    const recipe_optimizer usual = recipe_optimizer_of(r, s->optimizer ? s->optimizer : "sgd");
    if (s->nesterov && (s->momentum.given ? s->momentum.value : usual.momentum) == 0)
        return complain(GR_USAGE, command, "--nesterov needs a --momentum, such as 0.9");
    if (s->momentum.value >= 1)
        return complain(GR_USAGE, command, "--momentum %g: it must be below 1", s->momentum.value);
    return check_augment(s, r, command);
}

/* What the recipe and the methods' authors use where nothing else is asked for. */
static void complete_optimizer(settings *s, const recipe *r)
{
    const recipe_optimizer usual = recipe_optimizer_of(r, s->optimizer);
    const unsigned takes = optimizer_takes(s->optimizer);
    if (s->lr == 0)
        s->lr = usual.lr;
    if (!s->momentum.given) { /* a momentum of the user's own comes without the recipe's Nesterov */
        s->momentum.value = usual.momentum;
        s->nesterov |= usual.nesterov;
    }
    if (!s->weight_decay.given)
        s->weight_decay.value = usual.weight_decay;
    if (takes & TAKES_TRUST)
        s->lars_trust = s->lars_trust > 0 ? s->lars_trust : 0.001;
    if (takes & TAKES_RHO)
        s->sam_rho = s->sam_rho > 0 ? s->sam_rho : 0.05;
    if (takes & TAKES_GAMMA) {
        s->prox_steps = s->prox_steps ? s->prox_steps : 5;
        s->prox_gamma = s->prox_gamma > 0 ? s->prox_gamma : 1;
    }
}

static void complete_batch(settings *s, const recipe *r)
{
    gr_batch_stage stages[MAX_STAGES];
    if (s->batch_schedule && read_stages(s->batch_schedule, stages) > 0)
        s->batch = stages[0].batch;
    if (s->batch == 0)
        s->batch = r->batch;
    if (s->accumulate > 0) {
        s->micro_batch = s->batch;
        s->batch *= s->accumulate;
    }
    if (s->noise_scale && s->micro_batch == 0)
        s->micro_batch = (s->batch + 1) / 2;
    if (s->lr_rule) {
        s->base_batch = s->base_batch ? s->base_batch : 32;
        s->lr = gr_lr_for_batch(lr_rule_of(s->lr_rule), s->lr, s->batch, s->base_batch);
    }
}

void settings_complete(settings *s, const recipe *r)
{
    if (!s->optimizer)
        s->optimizer = r->optimizer;
    complete_optimizer(s, r);
    complete_batch(s, r);
    if (!s->lr_schedule)
        s->lr_schedule = r->lr_schedule ? r->lr_schedule : lr_schedule_names[GR_CONSTANT];
    const gr_schedule_kind kind = lr_schedule_of(s->lr_schedule);
    if (kind == GR_STEPS || kind == GR_TRIANGULAR)
        s->lr_every = s->lr_every ? s->lr_every : kind == GR_STEPS ? 30 : 2;
    if (kind == GR_STEPS)
        s->lr_gamma = s->lr_gamma > 0 ? s->lr_gamma : 0.1;
    if (s->epochs == 0 && s->updates == 0)
        s->epochs = r->epochs;
    if (!s->last_batch)
        s->last_batch = r->last_batch;
    if (!s->augment)
        s->augment = r->augment ? r->augment : "none";
    if (strcmp(s->augment, "published") == 0 && r->published_augment)
        s->augment = r->published_augment;
}

int settings_check_inputs(const settings *s, const char *command)
{
    if (s->init_weights && !is_readable_file(s->init_weights))
        return complain(GR_BAD_DATA, command, "--init-weights %s: %s", s->init_weights,
                        is_folder(s->init_weights) ? "it is a folder" : strerror(errno));
    return 0;
}

gr_context *settings_open(const settings *s, bool plan_only)
{
    return gr_open(&(gr_options){.device = s->device,
                                 .seed = (uint64_t)s->seed,
                                 .threads = (int)s->threads,
                                 .memory_limit = s->memory_limit,
                                 .precision = precision_of(s->precision),
                                 .plan_only = plan_only,
                                 .no_fusion = s->no_fusion});
}

static gr_optimizer *make_optimizer(const settings *s, gr_context *ctx, gr_module *net)
{
    const double decay = s->weight_decay.value;
    const unsigned takes = optimizer_takes(s->optimizer);
    if (takes & TAKES_ADAM) {
        bool pytorch = s->adam_form && strcmp(s->adam_form, "pytorch") == 0;
        gr_adam_args adam = {.epsilon = s->adam_epsilon,
                             .form = pytorch ? GR_ADAM_PYTORCH : GR_ADAM_KERAS,
                             .weight_decay = decay,
                             .decoupled = strcmp(s->optimizer, "adamw") == 0};
        return gr_adam(ctx, net, &(gr_adam_options){.lr = s->lr, .adam = adam});
    }
    if (takes & TAKES_TRUST)
        return gr_lars(
            ctx, net,
            &(gr_lars_options){s->lr, {.momentum = s->momentum.value, .weight_decay = decay, .trust = s->lars_trust}});
    if (takes & TAKES_GAMMA)
        return gr_prox(ctx, net, &(gr_prox_options){.lr = s->lr, .gamma = s->prox_gamma, .steps = (int)s->prox_steps});
    return gr_sgd(
        ctx, net,
        &(gr_sgd_options){.lr = s->lr, .momentum = s->momentum.value, .nesterov = s->nesterov, .weight_decay = decay});
}

gr_optimizer *settings_optimizer(const settings *s, gr_context *ctx, gr_module *net)
{
    gr_optimizer *opt = make_optimizer(s, ctx, net);
    gr_set_clip(opt, s->clip_norm);
    gr_set_decay_weights_only(opt, s->decay_weights_only);
    if (optimizer_takes(s->optimizer) & TAKES_RHO)
        gr_set_sam(opt, s->sam_rho);
    return opt;
}

bool preload_is(const settings *s, const char *where)
{
    return strcmp(s->preload ? s->preload : preload_names[0], where) == 0;
}

gr_fit_options settings_fit(const settings *s, gr_batch_stage *stages)
{
    return (gr_fit_options){.batch = s->batch,
                            .micro_batch = s->micro_batch,
                            .stages = stages,
                            .n_stages = s->batch_schedule ? read_stages(s->batch_schedule, stages) : 0,
                            .epochs = s->epochs,
                            .updates = s->updates,
                            .last = last_batch_of(s->last_batch),
                            .no_shuffle = s->no_shuffle,
                            .no_graph = s->no_graph,
                            .workers = (int)s->workers,
                            .prefetch = (int)s->prefetch,
                            .on_device = preload_is(s, "device"),
                            .noise_scale = s->noise_scale,
                            .sharpness = s->sharpness,
                            .schedule = {.kind = lr_schedule_of(s->lr_schedule),
                                         .every = s->lr_every,
                                         .gamma = s->lr_gamma,
                                         .lr_min = s->lr_min.value,
                                         .warm_up = s->warm_up}};
}
