/*
 * settings.h - a run in three steps. What was asked for (settings) is read from the command line and never changed; it
 * is checked (check.h); with the recipe's and the methods' choices for all that was left open it becomes the run that
 * is made (resolved.h). The options stand in tables by what they do, so that commands share them.
 */
#ifndef GRADUS_SETTINGS_H
#define GRADUS_SETTINGS_H

#include "settings/choices.h"
#include "settings/optimizer_options.h"

/* What was asked for. Zero: it was not. */
typedef struct {
    /* the cell: what a sweep varies */
    int64_t batch, accumulate;
    choice optimizer;
    int64_t seed;
    /* the protocol: what all cells of a sweep share */
    double lr;
    option_value parameters[MAX_PARAMETERS]; /* of optimizers, in the order of parameter_options */
    int64_t micro_batch, shards;
    choice batch_norm;
    const char *batch_schedule;
    amount clip_norm;
    amount label_smoothing;
    bool decay_weights_only;
    bool noise_scale;
    double sharpness;
    choice lr_schedule;
    int64_t lr_every;
    double lr_gamma;
    amount lr_min;
    amount warm_up;
    amount warm_up_from;
    choice lr_rule;
    int64_t base_batch;
    int64_t epochs, updates;
    const char *budget; /* in their place: budget.h */
    choice last_batch;
    bool no_shuffle, no_fusion;
    int64_t split_seed;
    amount val_share, test_share;
    choice filter;
    int64_t resize;
    const char *model;
    int64_t classes; /* of a network whose recipe leaves them open, where the data do not tell */
    const char *augment;
    const char *init_weights;
    const char *freeze;
    bool freeze_statistics;
    int64_t replace_head;
    double head_lr;
    amount ema;
    const char *lookahead;               /* read_lookahead */
    const char *lr_scale, *freeze_after; /* read_lr_scale, read_freeze_after */
    const char *whiten;
    const char *tta;        /* read_views */
    double target_accuracy; /* in % */
    choice device, precision;
    int64_t memory_limit;
    /* the machine: what must not change a result */
    const char *data;
    bool procedural, no_graph;
    int64_t metrics_every;
    int64_t threads;
    int64_t ranks;
    char gpu[24]; /* this rank's, as "cuda:1"; "": as device says */
    double patience;
    int64_t workers, prefetch;
    choice preload;
    int64_t preload_limit;
    /* where it goes */
    const char *save_weights, *log_updates;
    const char *checkpoint, *checkpoint_every;
    int64_t keep;
    bool resume, no_epoch_checkpoints;
    bool json, time, usage, no_evaluation;
    int64_t runs; /* by as many seeds; 0: one run, told at length */
} settings;

enum { MAX_BATCH = 1 << 20, BATCH_AUTO = -1 /* --batch auto: to be found before the run is resolved */ };
enum { HEAD_AUTO = -1 /* --replace-head auto: as the data want it */ };

static inline bool settings_synchronised(const settings *s)
{
    return s->batch_norm.value == BATCH_NORM_SYNCHRONISED;
}

extern const option settings_batches[], settings_protocol[], settings_machine[], settings_usage[],
    settings_checkpoints[];
const option *settings_cell(void);

/* Groups of a command's options that are settings at base in its struct; of the cell, and of all optimizers. */
/* clang-format off */
#define SETTINGS_GROUP(title, table, base) {title, table, NULL, base}
#define CELL_GROUP(title, base) {title, NULL, settings_cell, base}
#define PARAMETERS_GROUP(title, base) {title, NULL, parameter_options, (base) + offsetof(settings, parameters)}
/* clang-format on */

#endif
