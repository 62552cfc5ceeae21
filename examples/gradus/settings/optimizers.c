/* optimizers.c - the optimizers, an entry each; see optimizers.h. */
#include "settings/optimizers.h"

#include <string.h>

/* --- what they can be told ---------------------------------------------------------------------------------------- */

static const char *const adam_forms[] = {[GR_ADAM_KERAS] = "keras", [GR_ADAM_PYTORCH] = "pytorch", NULL};

static const parameter momentum = {.name = "momentum",
                                   .metavar = "X",
                                   .type = OPTION_AMOUNT,
                                   .help = "from 0 to below 1",
                                   .below = 1,
                                   .of_recipe = true};
static const parameter nesterov = {.name = "nesterov",
                                   .type = OPTION_FLAG,
                                   .help = "with --momentum: Nesterov's form",
                                   .beside = "momentum",
                                   .of_recipe = true};
static const parameter weight_decay = {.name = "weight-decay",
                                       .metavar = "X",
                                       .type = OPTION_AMOUNT,
                                       .help = "adds X times each parameter to its gradient; of adamw, X times the "
                                               "rate, taken off beside the step",
                                       .of_recipe = true};
static const parameter adam_form = {.name = "adam-form",
                                    .metavar = "FORM",
                                    .type = OPTION_CHOICE,
                                    .help = "where epsilon stands: keras (outside the bias correction) or pytorch",
                                    .names = NAMES(adam_forms)};
static const parameter adam_epsilon = {.name = "adam-epsilon",
                                       .metavar = "X",
                                       .type = OPTION_POSITIVE,
                                       .help = "keeps the step finite",
                                       .default_help = "1e-7 for keras, 1e-8 for pytorch"};
static const parameter lars_trust = {
    .name = "lars-trust", .metavar = "X", .type = OPTION_POSITIVE, .help = "an update's size beside the weights'"};
static const parameter sam_rho = {
    .name = "sam-rho", .metavar = "X", .type = OPTION_POSITIVE, .help = "how far it climbs"};
static const parameter muon_steps = {.name = "muon-steps",
                                     .metavar = "N",
                                     .type = OPTION_COUNT,
                                     .help = "of the iteration that makes a matrix orthogonal",
                                     .high = 100};
static const parameter muon_normalise = {.name = "muon-normalise",
                                         .metavar = "X",
                                         .type = OPTION_FLAG,
                                         .help = "bring each matrix to the norm sqrt(outputs) before its step",
                                         .of_recipe = true};
static const parameter rest_momentum = {.name = "rest-momentum",
                                        .metavar = "X",
                                        .type = OPTION_POSITIVE,
                                        .help = "Nesterov's, of biases, scales and the last layer, which go by SGD",
                                        .below = 1,
                                        .of_recipe = true};
static const parameter prox_gamma = {
    .name = "prox-gamma", .metavar = "X", .type = OPTION_POSITIVE, .help = "its pull towards where the update began"};
static const parameter prox_steps = {
    .name = "prox-steps", .metavar = "N", .type = OPTION_COUNT, .help = "steps on each batch", .high = 1000};

/* --- how they are made -------------------------------------------------------------------------------------------- */

static gr_optimizer *make_sgd(gr_context *ctx, gr_module *net, double lr, const double *v)
{
    return gr_sgd(ctx, net, &(gr_sgd_options){.lr = lr, .momentum = v[0], .nesterov = v[1] > 0, .weight_decay = v[2]});
}

static gr_optimizer *make_sam(gr_context *ctx, gr_module *net, double lr, const double *v)
{
    gr_optimizer *opt = make_sgd(ctx, net, lr, v);
    gr_set_sam(opt, v[3]);
    return opt;
}

static gr_adam_args adam_args(const double *v)
{
    return (gr_adam_args){.weight_decay = v[0], .form = v[1] > 0 ? GR_ADAM_PYTORCH : GR_ADAM_KERAS, .epsilon = v[2]};
}

static gr_optimizer *make_adam(gr_context *ctx, gr_module *net, double lr, const double *v)
{
    return gr_adam(ctx, net, &(gr_adam_options){.lr = lr, .adam = adam_args(v)});
}

static gr_optimizer *make_adamw(gr_context *ctx, gr_module *net, double lr, const double *v)
{
    gr_adam_args adam = adam_args(v);
    adam.decoupled = true;
    return gr_adam(ctx, net, &(gr_adam_options){.lr = lr, .adam = adam});
}

static gr_optimizer *make_lars(gr_context *ctx, gr_module *net, double lr, const double *v)
{
    return gr_lars(ctx, net,
                   &(gr_lars_options){.lr = lr, .lars = {.momentum = v[0], .weight_decay = v[1], .trust = v[2]}});
}

static gr_optimizer *make_muon(gr_context *ctx, gr_module *net, double lr, const double *v)
{
    return gr_muon(ctx, net,
                   &(gr_muon_options){.lr = lr,
                                      .momentum = v[0] > 0 ? v[0] : GR_ZERO,
                                      .weight_decay = v[1],
                                      .steps = (int)v[2],
                                      .normalise = v[3] > 0,
                                      .rest_momentum = v[4]});
}

static gr_optimizer *make_prox(gr_context *ctx, gr_module *net, double lr, const double *v)
{
    return gr_prox(ctx, net, &(gr_prox_options){.lr = lr, .gamma = v[0], .steps = (int)v[1]});
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

/* Colours after Okabe and Ito. */
const optimizer optimizers[] = {
    {.name = "sgd",
     .help = "",
     .label = "SGD",
     .colour = "#0072b2",
     .like = "sgd",
     .parameters = {{&momentum, 0}, {&nesterov, 0}, {&weight_decay, 0}},
     .make = make_sgd},
    {.name = "momentum",
     .help = "sgd with 0.9 where the recipe has none",
     .label = "momentum",
     .colour = "#56b4e9",
     .like = "sgd",
     .parameters = {{&momentum, 0.9}, {&nesterov, 0}, {&weight_decay, 0}},
     .make = make_sgd},
    {.name = "adam",
     .help = "",
     .label = "Adam",
     .colour = "#d55e00",
     .like = "adam",
     .parameters = {{&weight_decay, 0}, {&adam_form, GR_ADAM_KERAS}, {&adam_epsilon, 0}},
     .make = make_adam},
    {.name = "adamw",
     .help = "",
     .label = "AdamW",
     .colour = "#e69f00",
     .like = "adam",
     .parameters = {{&weight_decay, 0.01 /* PyTorch's */}, {&adam_form, GR_ADAM_KERAS}, {&adam_epsilon, 0}},
     .make = make_adamw},
    {.name = "lars",
     .help = "",
     .label = "LARS",
     .colour = "#009e73",
     .like = "sgd",
     .lr = 1, /* its rates are relative to the weights, not to the network */
     .parameters = {{&momentum, 0.9}, {&weight_decay, 0}, {&lars_trust, 0.001}},
     .make = make_lars},
    {.name = "muon",
     .help = "orthogonal steps of matrices, SGD for the rest",
     .label = "Muon",
     .colour = "#5d3a9b",
     .like = "adam",
     .lr = 0.02, /* its steps are as large as orthogonal matrices, whatever the gradient */
     .parameters =
         {{&momentum, 0.95}, {&weight_decay, 0}, {&muon_steps, 5}, {&muon_normalise, 0}, {&rest_momentum, 0.9}},
     .make = make_muon},
    {.name = "sam",
     .help = "momentum, sharpness-aware: two passes over each batch",
     .label = "SAM",
     .colour = "#cc79a7",
     .like = "sgd",
     .parameters = {{&momentum, 0.9}, {&nesterov, 0}, {&weight_decay, 0}, {&sam_rho, 0.05}},
     .make = make_sam},
    {.name = "prox",
     .help = "conservative mini-batches: a few steps on each",
     .label = "prox",
     .colour = "#8b6f00",
     .like = "sgd",
     .parameters = {{&prox_gamma, 1}, {&prox_steps, 5}},
     .make = make_prox},
    {.name = NULL},
};

const optimizer *optimizer_named(const char *name)
{
    return &optimizers[name_find((name_list)NAMES(optimizers), name)];
}

int optimizer_takes(const optimizer *o, const char *parameter_name)
{
    for (int i = 0; o->parameters[i].parameter; i++)
        if (strcmp(o->parameters[i].parameter->name, parameter_name) == 0)
            return i;
    return -1;
}

int optimizers_taking(const char *parameter_name)
{
    int n = 0;
    for (const optimizer *o = optimizers; o->name; o++)
        n += optimizer_takes(o, parameter_name) >= 0;
    return n;
}
