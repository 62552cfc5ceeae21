/* settings.c - see settings.h. */
#include "settings.h"

#include <errno.h>
#include <string.h>

static const char *const adam_forms[] = {"keras", "pytorch", NULL};

#define AT(field) offsetof(settings, field)

const option settings_cell[] = {
    {"batch", "N", OPTION_COUNT, AT(batch), "samples per update (default: the recipe's)", 1, MAX_BATCH, NULL},
    {"optimizer", "NAME", OPTION_CHOICE, AT(optimizer), "sgd or adam (default: the recipe's)", 0, 0, optimizer_names},
    {"seed", "N", OPTION_COUNT, AT(seed), "draws the initial weights and the order of the samples (default: 1)", 0,
     INT64_MAX, NULL},
    {0},
};

const option settings_protocol[] = {
    {"lr", "X", OPTION_POSITIVE, AT(lr), "learning rate (default: the recipe's for the optimizer)", 0, 0, NULL},
    {"momentum", "X", OPTION_AMOUNT, AT(momentum), "of SGD, from 0 to below 1 (default: the recipe's, else 0)", 0, 0, NULL},
    {"nesterov", NULL, OPTION_FLAG, AT(nesterov), "with --momentum: Nesterov's form", 0, 0, NULL},
    {"weight-decay", "X", OPTION_AMOUNT, AT(weight_decay),
     "adds X times each parameter to its gradient (default: the recipe's, else 0)", 0, 0, NULL},
    {"lr-schedule", "NAME", OPTION_CHOICE, AT(lr_schedule),
     "how the learning rate goes on: constant, cosine (to 0 at the end of the run) or steps (default: the recipe's)", 0, 0,
     lr_schedule_names},
    {"lr-every", "EPOCHS", OPTION_COUNT, AT(lr_every), "with steps: epochs between two of them (default: 30)", 1, 1000000,
     NULL},
    {"lr-gamma", "X", OPTION_POSITIVE, AT(lr_gamma), "with steps: what each multiplies the rate by (default: 0.1)", 0, 0,
     NULL},
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
    {"init-weights", "FILE", OPTION_TEXT, AT(init_weights), "start from these weights (safetensors)", 0, 0, NULL},
    {"device", "NAME", OPTION_CHOICE, AT(device), DEVICE_HELP, 0, 0, device_names},
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
    {"threads", "N", OPTION_COUNT, AT(threads), "the results do not depend on it (default, and at most: all this process may use)",
     1, 1024, NULL},
    {0},
};

int settings_check(const settings *s, const recipe *r, const char *command, bool any_sgd, bool any_adam)
{
    if (s->epochs && s->updates)
        return complain(GR_USAGE, command, "--epochs and --updates exclude each other; give one of them");
    if (s->data && s->procedural)
        return complain(GR_USAGE, command, "--data and --procedural exclude each other; give one of them");
    if (s->filter && r->format != RECIPE_IMAGE_FOLDER)
        return complain(GR_USAGE, command, "--filter is for folders of images; %s reads none", r->name);
    if (s->resize && r->format == RECIPE_TABLE)
        return complain(GR_USAGE, command, "--resize is for pictures; %s has rows of features", r->name);
    if ((s->momentum.given || s->nesterov) && !any_sgd)
        return complain(GR_USAGE, command, "--%s is for --optimizer sgd", s->nesterov ? "nesterov" : "momentum");
    if (s->nesterov && (s->momentum.given ? s->momentum.value : recipe_optimizer_of(r, "sgd")->momentum) == 0)
        return complain(GR_USAGE, command, "--nesterov needs a --momentum, such as 0.9");
    if (s->momentum.value >= 1)
        return complain(GR_USAGE, command, "--momentum %g: it must be below 1", s->momentum.value);
    const char *schedule = s->lr_schedule ? s->lr_schedule : r->lr_schedule;
    if ((s->lr_every || s->lr_gamma > 0) && lr_schedule_of(schedule) != GR_STEPS)
        return complain(GR_USAGE, command, "--lr-%s is for --lr-schedule steps", s->lr_every ? "every" : "gamma");
    if ((s->adam_form || s->adam_epsilon > 0) && !any_adam)
        return complain(GR_USAGE, command, "--adam-%s is for --optimizer adam", s->adam_form ? "form" : "epsilon");
    return 0;
}

void settings_complete(settings *s, const recipe *r)
{
    if (s->batch == 0)
        s->batch = r->batch;
    if (!s->optimizer)
        s->optimizer = r->optimizer;
    const recipe_optimizer *usual = recipe_optimizer_of(r, s->optimizer);
    if (s->lr == 0)
        s->lr = usual->lr;
    if (!s->momentum.given) { /* a momentum of the user's own comes without the recipe's Nesterov */
        s->momentum.value = usual->momentum;
        s->nesterov |= usual->nesterov;
    }
    if (!s->weight_decay.given)
        s->weight_decay.value = usual->weight_decay;
    if (!s->lr_schedule)
        s->lr_schedule = r->lr_schedule ? r->lr_schedule : lr_schedule_names[GR_CONSTANT];
    if (lr_schedule_of(s->lr_schedule) == GR_STEPS) {
        s->lr_every = s->lr_every ? s->lr_every : 30;
        s->lr_gamma = s->lr_gamma > 0 ? s->lr_gamma : 0.1;
    }
    if (s->epochs == 0 && s->updates == 0)
        s->epochs = r->epochs;
    if (!s->last_batch)
        s->last_batch = r->last_batch;
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
                                 .plan_only = plan_only,
                                 .no_fusion = s->no_fusion});
}

gr_optimizer *settings_optimizer(const settings *s, gr_context *ctx, gr_module *net)
{
    if (strcmp(s->optimizer, "sgd") == 0)
        return gr_sgd(ctx, net,
                      &(gr_sgd_options){.lr = s->lr,
                                        .momentum = s->momentum.value,
                                        .nesterov = s->nesterov,
                                        .weight_decay = s->weight_decay.value});
    bool pytorch = s->adam_form && strcmp(s->adam_form, "pytorch") == 0;
    return gr_adam(
        ctx, net,
        &(gr_adam_options){.lr = s->lr,
                           .adam = {.epsilon = s->adam_epsilon,
                                    .form = pytorch ? GR_ADAM_PYTORCH : GR_ADAM_KERAS,
                                    .weight_decay = s->weight_decay.value}});
}

gr_fit_options settings_fit(const settings *s)
{
    return (gr_fit_options){.batch = s->batch,
                            .epochs = s->epochs,
                            .updates = s->updates,
                            .last = last_batch_of(s->last_batch),
                            .no_shuffle = s->no_shuffle,
                            .schedule = {.kind = lr_schedule_of(s->lr_schedule), .every = s->lr_every, .gamma = s->lr_gamma}};
}
