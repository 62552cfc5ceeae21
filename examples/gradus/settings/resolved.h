/*
 * resolved.h - a run as it will be: what was asked for, and the recipe's and the methods' choices for all that was left
 * open. Made once, of settings that are checked, and never changed.
 */
#ifndef GRADUS_RESOLVED_H
#define GRADUS_RESOLVED_H

#include "recipes/recipe.h"
#include "settings/budget.h"
#include "settings/settings.h"
#include "settings/views.h"

enum { MAX_STAGES = 16, NAMES_SIZE = 256 };

typedef struct {
    const recipe *recipe;
    settings asked; /* for what needs no choice: seeds, files, the machine */
    const optimizer *optimizer;
    double lr;                               /* for the batch size */
    double parameters[OPTIMIZER_PARAMETERS]; /* of the optimizer, in its own order */
    int64_t batch, micro_batch;              /* samples of an update; in memory at a time, 0: all */
    gr_batch_stage stages[MAX_STAGES];
    int n_stages;       /* 0: one batch size */
    int64_t base_batch; /* 0: the rate is for any batch size */
    run_budget budget;
    gr_schedule schedule;
    gr_last_batch last_batch;
    gr_lookahead lookahead;
    char freeze_later[NAMES_SIZE]; /* the names of --freeze-after; "": there are none */
    int64_t freeze_epochs;
    double val_share, test_share; /* of pictures of one's own */
    const char *augment;          /* a plan, or "none" */
    views tta;
    double target; /* share of the test part; 0: none */
} resolved;

resolved settings_resolve(const settings *asked, const recipe *r);

/*
 * What was asked for, with the recipe's choices where all optimizers share them: what the cells of a sweep have
 * in common.
 */
settings settings_shared(const settings *asked, const recipe *r);

/* The values of an optimizer's parameters, in its own order: the user's, else the recipe's, else the usual ones. */
void resolve_parameters(const settings *asked, const recipe *r, const optimizer *o,
                        double values[OPTIMIZER_PARAMETERS]);

/*
 * "bn*.bias=64;fc1.weight=2", piece by piece: the names before the last "=" of the first, and the number above 0 behind
 * it; text goes to the next. False: the piece is not of this form.
 */
bool read_lr_scale(const char **text, char names[NAMES_SIZE], double *scale);

/* One such piece with a number of epochs. */
bool read_freeze_after(const char *text, char names[NAMES_SIZE], int64_t *epochs);

/* "5:0.5", "5:0.5:grows" or "none". False: text is not of these forms. */
bool read_lookahead(const char *text, gr_lookahead *lookahead);

/* "0:64,30:320": returns how many stages there are, at most MAX_STAGES; 0 where text is none. */
int read_stages(const char *text, gr_batch_stage *stages);

/* What a context is opened with: device, precision, seed, threads, as asked for. */
gr_options settings_context(const settings *asked, bool plan_only);

/* That context. NULL: the context tells, or there is none. */
gr_context *settings_open(const settings *asked, bool plan_only);

/* The same of a run. */
gr_context *resolved_open(const resolved *s, bool plan_only);
/*
 * Its network, not yet built: that of --model, else the recipe's; for the classes of set where the recipe leaves them
 * open. set NULL: no data are known.
 */
gr_module *resolved_net(const resolved *s, gr_context *ctx, const gr_dataset *set);

/* The same built for the pictures of set, with what is frozen. */
gr_module *resolved_built_net(const resolved *s, gr_context *ctx, const gr_dataset *set);

/* Its optimizer. */
gr_optimizer *resolved_optimizer(const resolved *s, gr_context *ctx, gr_module *net);

/* The options of its training, which live as long as s. */
gr_fit_options resolved_fit(const resolved *s);

/* The same of so many updates, whatever its budget is. */
gr_fit_options resolved_fit_updates(const resolved *s, int64_t updates);

/* The most rows that its training has in memory at a time. */
int64_t resolved_micro_batch(const resolved *s);

/* Where the pictures are kept. */
preload resolved_preload(const resolved *s);

#endif
