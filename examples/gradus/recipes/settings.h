/*
 * settings.h - what a user can choose about a run. Zero or NULL: not given; settings_complete then puts the recipe's
 * choice there. The options stand in tables by what they do, so that train and sweep share them.
 */
#ifndef GRADUS_SETTINGS_H
#define GRADUS_SETTINGS_H

#include "recipes/recipe.h"
#include "terminal/options.h"

typedef struct {
    /* the cell: what a sweep varies */
    int64_t batch, accumulate;
    const char *optimizer;
    int64_t seed;
    /* the protocol: what all cells of a sweep share */
    double lr;
    amount momentum, weight_decay;
    bool nesterov;
    int64_t micro_batch;
    const char *batch_schedule;
    double clip_norm;
    bool decay_weights_only;
    bool noise_scale;
    double sharpness;
    const char *lr_schedule;
    int64_t lr_every;
    double lr_gamma;
    amount lr_min;
    double warm_up;
    const char *lr_rule;
    int64_t base_batch;
    double lars_trust, sam_rho, prox_gamma;
    int64_t prox_steps;
    const char *adam_form;
    double adam_epsilon;
    int64_t epochs, updates;
    const char *last_batch;
    bool no_shuffle, no_fusion;
    int64_t split_seed;
    const char *filter;
    int64_t resize;
    const char *augment;
    const char *init_weights;
    const char *device, *precision;
    int64_t memory_limit;
    /* the machine: what must not change a result */
    const char *data;
    bool procedural, no_graph;
    int64_t threads;
    int64_t workers, prefetch;
    const char *preload;
    int64_t preload_limit;
    /* where it goes */
    const char *save_weights, *log_updates;
    bool json, time, no_evaluation;
} settings;

extern const option settings_cell[], settings_batches[], settings_protocol[], settings_machine[];

#define OPTIMIZER_HELP                                                                                                            \
    "sgd, momentum (sgd with 0.9 where the recipe has none), adam, adamw, lars, sam (momentum, sharpness-aware: two passes over " \
    "each batch) or prox (conservative mini-batches: a few steps on each) (default: the recipe's)"

enum { MAX_BATCH = 1 << 20, MAX_STAGES = 16 };

/*
 * Checks what no single option can: two that exclude each other, one that means nothing without another (takes: what
 * the optimizers take, see optimizer_takes). Returns 0 or an exit code, complained of.
 */
int settings_check(const settings *s, const recipe *r, const char *command, unsigned takes);

/* Takes out what only other optimizers of a sweep understand. */
void settings_keep(settings *s, unsigned takes);

/* Fills in the recipe's choices. */
void settings_complete(settings *s, const recipe *r);

/* Complains when a file that is to be read cannot be. Returns 0 or an exit code. */
int settings_check_inputs(const settings *s, const char *command);

/* The context, network and optimizer that the settings ask for. NULL: the context tells, or there is none. */
gr_context *settings_open(const settings *s, bool plan_only);
gr_optimizer *settings_optimizer(const settings *s, gr_context *ctx, gr_module *net);

/* stages: room for MAX_STAGES, to live as long as the options. */
bool preload_is(const settings *s, const char *where); /* "ram", "none" or "device" */
gr_fit_options settings_fit(const settings *s, gr_batch_stage *stages);

#endif
