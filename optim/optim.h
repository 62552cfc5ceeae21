/*
 * optim.h - the public face of optim/: optimizers, the fit loop, evaluation.
 */
#ifndef GRADUS_OPTIM_H
#define GRADUS_OPTIM_H

#include "core/group/group.h"
#include "data/data.h"
#include "nn/nn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gr_optimizer gr_optimizer;

typedef struct {
    double lr;       /* learning rate; 0: 0.01 */
    double momentum; /* in [0, 1) */
    bool nesterov;
    double weight_decay; /* part of the gradient, as torch.optim.SGD has it */
} gr_sgd_options;

typedef struct {
    double lr;         /* 0: 0.001 */
    gr_adam_args adam; /* zero: Keras' form, beta 0.9 and 0.999, epsilon 1e-7 */
} gr_adam_options;

typedef struct {
    double lr; /* 0: 1; times trust it is the change of a layer's weights in an update, relative to their norm */
    gr_lars_args lars; /* zero: no momentum, no decay, trust 0.001 */
} gr_lars_options;

typedef struct {
    double lr;    /* 0: 0.01 */
    double gamma; /* weight of the distance from where the update began; 0: 1; GR_ZERO: 0 */
    int steps;    /* on each batch; 0: 5 */
} gr_prox_options;

/*
 * Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/): the step of a matrix of weights is its
 * Nesterov momentum, made nearly orthogonal. Filters count as matrices, a row each. Biases, scales and shifts, and the
 * weights of the last layer go by SGD with Nesterov's momentum, at the same rate (others: gr_set_lr_scale).
 */
typedef struct {
    double lr;            /* 0: 0.02 */
    double momentum;      /* of matrices, in [0, 1); 0: 0.95; GR_ZERO: 0 */
    double rest_momentum; /* of all others, in (0, 1); 0: 0.9 */
    double weight_decay;  /* of matrices beside the step, of others part of the gradient */
    int steps;            /* of the iteration towards an orthogonal matrix; 0: 5 */
    bool normalise;       /* before its step a matrix is brought to the norm sqrt(outputs): for weights whose size does
                             not matter, as batch normalisation follows */
} gr_muon_options;

gr_optimizer *gr_sgd(gr_context *ctx, gr_module *net, const gr_sgd_options *options);
gr_optimizer *gr_adam(gr_context *ctx, gr_module *net, const gr_adam_options *options);

gr_optimizer *gr_lars(gr_context *ctx, gr_module *net, const gr_lars_options *options);
gr_optimizer *gr_prox(gr_context *ctx, gr_module *net, const gr_prox_options *options);
gr_optimizer *gr_muon(gr_context *ctx, gr_module *net, const gr_muon_options *options);

/* Weight decay for weights alone: none for biases, and for scales and shifts of batch normalisation. */
bool gr_set_decay_weights_only(gr_optimizer *opt, bool on);

/* Scales the gradients of an update down where their norm, all together, is larger than this. 0: never. */
bool gr_set_clip(gr_optimizer *opt, double norm);

/*
 * Sharpness-aware minimisation (Foret et al. 2021) around this optimizer: two passes over each batch; the first moves
 * the weights by rho uphill along the gradient (0.05 is usual), the second's gradient is what the update is made of. 0:
 * off. Statistics of batch normalisation move in the first pass alone.
 */
bool gr_set_sam(gr_optimizer *opt, double rho);

/*
 * Keeps an exponential moving average of the model's weights over the updates, and one of batch normalisation's running
 * statistics with the same decay, in (0, 1); 0: none. Formula and source: gr_ema_step in kernels/ops/updates.h; the
 * decay grows with the updates up to this one. Training goes by the weights themselves and its bits are the same;
 * gr_fit evaluates with the averages. Before the first update. Costs memory for as many numbers as are averaged.
 */
bool gr_set_ema(gr_optimizer *opt, double decay);

/*
 * Exchanges weights and running statistics with their averages: for evaluating and saving these, then once more before
 * the next update or checkpoint, which are refused in between. Waits for the device. False: recorded.
 */
bool gr_ema_swap(gr_optimizer *opt);

/*
 * Look-ahead (Zhang, Lucas, Hinton, Ba 2019): slow copies of the weights and of batch normalisation's running
 * statistics begin as these. Behind every so many updates slow = decay slow + (1 - decay) weights, and the weights go
 * on from there. Evaluation takes the weights as they are, which behind a pull are the slow ones. Before the first
 * update. Costs memory for as many numbers as are copied.
 */
typedef struct {
    int64_t every;   /* updates from one pull to the next; 0: no look-ahead */
    double decay;    /* in [0, 1); the publication's 1 - alpha, alpha being 0.5 there */
    bool grows;      /* at update t it is decay (t / updates)^3, as Jordan 2024 (arXiv:2404.00498) has it */
    int64_t updates; /* with grows: of the run; 0: as many as gr_fit will make, from where it begins */
} gr_lookahead;
bool gr_set_lookahead(gr_optimizer *opt, const gr_lookahead *lookahead);

/*
 * Passes over its batch that one update takes: 1, with SAM 2, with gr_prox its steps. Each is gr_backward (of every
 * micro-batch) and gr_optimizer_step, or gr_minimize; the last completes the update, and only between updates are the
 * weights the model's.
 */
int gr_optimizer_passes(const gr_optimizer *opt);

/*
 * Parameters whose names match (as in gr_module_freeze) learn at scale times the rate, as it goes: a new head faster
 * than the layers that it stands on. Of a built model, before its first update. False, recorded: no name matches.
 */
bool gr_set_lr_scale(gr_optimizer *opt, const char *patterns, double scale);

/*
 * The same of the weight decay of gr_sgd and gr_adam. Its share of an update is rate times decay: 1 / scale keeps what
 * gr_set_lr_scale would change.
 */
bool gr_set_decay_scale(gr_optimizer *opt, const char *patterns, double scale);

/*
 * First values from data: the filters of that name of a built model, [2d,R,S,C] with d = RSC, become the principal axes
 * of the set's R x S patches, by falling second moment l, each divided by sqrt(l + epsilon), then the negatives of all.
 * What they give has about unit variance and is uncorrelated, so that it may be frozen. Pictures are those of the set's
 * batches, normalised, and augmented where the set is. False: recorded.
 */
typedef struct {
    int64_t samples; /* the set's first so many; 0: 5000 */
    double epsilon;  /* 0: 5e-4 */
} gr_whiten_options;
bool gr_whiten(gr_module *net, const char *name, gr_dataset *set, const gr_whiten_options *options);

/* Learning rate from the next update on. In gr_fit a schedule other than GR_CONSTANT sets it before each update. */
bool gr_set_lr(gr_optimizer *opt, double lr);

/* One update, or one pass of it, from the gradients that gr_backward has left; marks them empty. */
bool gr_optimizer_step(gr_optimizer *opt);

/*
 * gr_backward and gr_optimizer_step in one, free to fuse: a dense layer's weights are updated while its gradient is
 * computed, and that gradient is never stored; on the CPU other large weights are updated as soon as their gradient is
 * there, which is not kept. The same update, less memory and time.
 */
bool gr_minimize(gr_optimizer *opt, gr_tensor *loss);

/*
 * Everything that training goes on from, bit for bit, in one safetensors file with a checksum: weights and running
 * statistics under their names (gr_load_weights reads them too), the optimizer's moments and counts, the learning rate,
 * the loss scale, what is drawn next; and a note of the program's own, such as its epoch and batch (NULL: none).
 * Between two updates alone: while gradients wait for their step both are refused (GR_USAGE). The file that was there
 * stays until the new one is whole. Where a loader goes on: gr_loader_options.epoch and skip.
 *
 * Loading checks everything before it changes anything: a damaged file is GR_BAD_DATA; one of another version, device,
 * instruction set, precision or seed is GR_USAGE and named, as its bits would be others. *note (NULL: not wanted) is
 * the context's until gr_close. False: recorded.
 */
bool gr_checkpoint_save(gr_optimizer *opt, const char *path, const char *note);
bool gr_checkpoint_load(gr_optimizer *opt, const char *path, const char **note);

/* The loss that fits a model's answer z: sigmoid_bce for one logit, softmax_cross_entropy for more. */
gr_tensor *gr_loss(gr_tensor *z, const gr_batch *batch);

/*
 * A loss of a program's own from a model's answer, made by operations: a mean over the samples of the update, as
 * gr_loss's is (sum over the rows of weight times loss, divided by the weight of the update). NULL on error.
 */
typedef gr_tensor *(*gr_loss_function)(void *user, gr_tensor *z, const gr_batch *batch);

typedef struct {
    double loss, accuracy;        /* means over the samples, the loss with gr_add_penalty; NAN when there were none */
    double precision, recall, f1; /* of the second of two classes; of more, the plain mean over those that occur */
    int64_t samples;
    int classes;

    /*
     * [classes,classes], row: the label, column: the answer. Of gr_fit's result: the context's, until gr_close; in its
     * reports: until they return; of gr_evaluate: NULL.
     */
    const double *confusion;
} gr_metrics;

/* Runs the model over a whole set without a tape, 64 samples at a time. */
gr_metrics gr_evaluate(gr_module *net, gr_dataset *set);

/* Evaluation as gr_fit has it: with the same rows at a time and the same loss the same bits. */
typedef struct {
    int64_t batch;          /* rows at a time; 0: 64 */
    gr_loss_function loss;  /* in place of gr_loss; NULL: that */
    void *user;             /* for loss */
    double label_smoothing; /* of gr_loss, as in gr_fit_options */
} gr_evaluate_options;
gr_metrics gr_evaluate_with(gr_module *net, gr_dataset *set, const gr_evaluate_options *options);

/*
 * Gradient noise scale (McCandlish et al. 2018): tr(Sigma) / |G|^2, where G is the true gradient and Sigma the
 * covariance of one sample's. Batches far below it waste updates, batches far above it waste samples. Zero is the
 * start; gr_noise_add takes the norms of the gradients of a small batch and of a big one, each a mean over its samples.
 * What is not finite is passed over.
 */
typedef struct {
    double gradient, noise, scale; /* |G|^2, tr(Sigma), their ratio in samples; NAN before the first */
} gr_noise_scale;
typedef struct {
    double gradient_sum, noise_sum, weight; /* running means, not yet divided by the sum of their weights */
    gr_noise_scale last; /* of the last two norms alone: gradient and noise without bias; all NAN where passed over */
} gr_noise;
void gr_noise_add(gr_noise *n, double small_norm, double small, double big_norm, double big);
gr_noise_scale gr_noise_read(const gr_noise *n);

/*
 * Sharpness of a minimum (Keskar et al. 2017, metric 2.1): by how much the loss over a set can rise when each weight w
 * moves by at most epsilon (|w| + 1), in per cent of 1 + loss. Takes steps + 1 passes forward and backward; the model
 * is left as it was. Batch normalisation works by each batch's statistics, as in training.
 */
typedef struct {
    double epsilon;         /* 0: 1e-3 */
    int steps;              /* of the search; 0: 10 */
    int64_t batch;          /* rows at a time; 0: 64 */
    gr_loss_function loss;  /* in place of gr_loss; NULL: that */
    void *user;             /* for loss */
    double label_smoothing; /* of gr_loss, as in gr_fit_options */
} gr_sharpness_options;
typedef struct {
    double loss, worst; /* at the weights, and the largest that was found */
    double sharpness;   /* 100 (worst - loss) / (1 + loss); NAN on error */
} gr_sharpness;
gr_sharpness gr_measure_sharpness(gr_module *net, gr_dataset *set, const gr_sharpness_options *options);

/* Where time has gone, in seconds. The first four make up the whole. */
typedef struct {
    double wait;     /* for batches that were not ready: pictures being read, decoded, gathered */
    double copy;     /* of batches to the device */
    double compute;  /* in training */
    double evaluate; /* computing in evaluation */
    double making;   /* spent by threads in making batches, all of them together, whether someone waited or not */
    double reading;  /* of these, in reading files */
} gr_time_use;

/* What fit knows after an update or an epoch. */
typedef struct {
    int64_t epoch, epochs;           /* this one from 1, of so many (0: does not end by epochs) */
    int64_t update, updates;         /* updates so far, of so many (0: ends by seconds) */
    int64_t batch_in_epoch, batches; /* batches of this epoch so far, of so many */
    int64_t batch;                   /* samples in an update of this epoch */
    int64_t samples;                 /* trained on since the start */

    /*
     * After an update: mean over the samples since the last reading of the device (of its batch, then, with
     * metrics_every 1), NAN before the first; after an epoch: mean over its samples. The accuracy is a fraction.
     */
    double loss, accuracy;
    bool fresh;        /* loss and accuracy were read after this update */
    double seconds;    /* training time since the start, evaluation left out */
    double loss_scale; /* of the next update; 1 where there is none */
    int64_t skipped;   /* updates so far that an overflow has had skipped */
    gr_time_use time;  /* of this epoch so far */
    bool epoch_end;
    gr_metrics val, test;        /* at an epoch's end, where asked for; samples 0 otherwise */
    gr_noise_scale noise;        /* at an epoch's end, where asked for: running means over the updates */
    gr_noise_scale update_noise; /* after an update, where asked for: what it alone tells; NAN where it had one piece */
    gr_sharpness sharp;          /* at an epoch's end, where asked for */
} gr_progress;

/* How the learning rate goes on from the optimizer's own. */
typedef enum {
    GR_CONSTANT = 0,
    GR_COSINE,    /* down half a cosine wave to lr_min at the run's end: Loshchilov and Hutter 2017, without restarts */
    GR_STEPS,     /* times gamma after every so many epochs */
    GR_LINEAR,    /* down in a straight line to lr_min at the end of the run */
    GR_TRIANGULAR /* from lr_min up to the optimizer's own in so many epochs, down in as many, and again: Smith 2017 */
} gr_schedule_kind;

typedef struct {
    gr_schedule_kind kind;
    double lr_min; /* COSINE, LINEAR, TRIANGULAR */
    int64_t every; /* epochs; STEPS: 0: 30; TRIANGULAR: 0: 2 */
    double gamma;  /* STEPS: 0: 0.1; GR_ZERO: 0 */

    /*
     * Epochs, whole or not, in which the rate first grows in a straight line (Goyal et al. 2017); the kind's own course
     * begins behind them.
     */
    double warm_up;
    double warm_up_from; /* the share of the rate that it grows from, in [0, 1] */
} gr_schedule;

/*
 * Rate of update number update, from 0, of a run of so many, per_epoch to an epoch. In the W = warm_up per_epoch
 * updates of the warm-up, f being warm_up_from, lr (f + (1 - f) (update + 1) / W). Then, with u and U the updates since
 * and in all since: COSINE lr_min + (lr - lr_min) (1 + cos(pi u / U)) / 2, LINEAR lr_min + (lr - lr_min) (1 - u / U),
 * STEPS lr gamma^floor(u / (every per_epoch)), TRIANGULAR lr_min + (lr - lr_min) (1 - |u mod 2h / h - 1|), h = every
 * per_epoch.
 */
double gr_scheduled_lr(const gr_schedule *s, double lr, int64_t update, int64_t updates, int64_t per_epoch);

/*
 * The rate for a batch size, from the one that suits base_batch: the same, in proportion (Goyal et al. 2017), or in
 * proportion to the square root (Krizhevsky 2014).
 */
typedef enum { GR_LR_NONE = 0, GR_LR_LINEAR, GR_LR_SQRT } gr_lr_rule;
double gr_lr_for_batch(gr_lr_rule rule, double lr, int64_t batch, int64_t base_batch);

/* From an epoch on, counted from 0, updates have so many samples. */
typedef struct {
    int64_t epoch, batch;
} gr_batch_stage;

/* Something that makes a run another than others, in words. */
typedef struct {
    const char *key, *value;
} gr_setting;

/*
 * The states of a run of gr_fit in a folder: checkpoint-UPDATE.safetensors after every epoch, when the run is stopped,
 * and in between as is asked for here; best.safetensors is that of the epoch whose end had the best accuracy on the
 * validation part. Each is written whole or not at all. One run at a time works in a folder.
 */
typedef struct {
    const char *folder;   /* made where there is none */
    int64_t every;        /* also after every so many updates; 0: not */
    double every_seconds; /* also when so much time has gone since the last one; 0: not */
    bool no_epochs;       /* not after every epoch, and none of the best: as said above, and when the run is stopped */
    int keep;             /* the last so many, and the best; 0: 2 */
    /*
     * Go on from the last one; where there is none, begin. One that is damaged gets another name, and the one before is
     * taken. Without resume a folder that holds some is refused.
     */
    bool resume;
    /*
     * What another run is known by, and refused: beside its samples, batch sizes, length, order, schedule, label
     * smoothing, what is frozen later, and what gr_checkpoint_load looks at. The optimizer's own settings, the sets and
     * a loss of the program's are for it to name.
     */
    const gr_setting *settings;
    int n_settings;
    /* What the program wants back with the state, which stays until the next call; NULL: it had no memory for it. */
    const char *(*note)(void *user);
    /* The run goes on from there, with that note; false: it cannot. */
    bool (*resumed)(void *user, const gr_progress *p, const char *path, const char *note);
    /* What a checkpoint was passed over for. */
    void (*told)(void *user, const char *text);
    void *user; /* for these three, each of which may be NULL */
} gr_checkpoints;

typedef struct {
    int64_t batch; /* samples in an update */

    /*
     * Batch sizes by epoch in place of batch, the first from epoch 0: the batch may grow where the rate would fall
     * (Smith et al. 2018); a schedule then goes by the epoch, and COSINE and LINEAR have to know how many there are.
     * n_stages 0: batch.
     */
    const gr_batch_stage *stages;
    int n_stages;

    /*
     * Rows that are in memory at a time; 0: batch. Gradients of the pieces add up to the batch's, whatever the last
     * batch is; batch normalisation takes its statistics of each piece, and moves the running ones once for each.
     */
    int64_t micro_batch;

    /*
     * Every update's batch is cut into so many shards (gr_loader_options), a power of two up to GR_MAX_SHARDS; 0: 1.
     * Each has a forward and backward pass of its own, its losses divided by the whole batch's samples, and the
     * gradients of the shards are added up by a fixed binary tree: a run's bits depend on this number. Batch
     * normalisation takes its statistics of each shard (each piece of one); the running ones become the mean of what
     * every shard that has samples would have made of them. Takes memory for log2(shards) more slabs of gradients.
     */
    int shards;

    /*
     * Batch normalisation takes its statistics, forward and backward, of the whole batch, whatever shard its samples
     * are in: all shards pass through the model at once, each a rank of its own, undivided by micro_batch.
     */
    bool synchronised;

    /*
     * The ranks that share the shards, as many each, all in gr_fit with the same options, sets and first weights, each
     * in a context of its own; NULL: one. The weights of all go the same way, whose bits do not depend on the number
     * of ranks. Each evaluates for itself; rank 0 alone writes checkpoints, and all read them. Settings that differ
     * between ranks (these options, what agree says, what gr_checkpoint_load looks at) are an error that names them. A
     * run whose rank 0 is stopped by report stops on all.
     */
    gr_group *group;
    const gr_setting *agree; /* settings of the program's own that must be the same on all ranks */
    int n_agree;

    /* When to stop: behind the update that reaches one of these. 0: not by this one; one of them is above 0. */
    int64_t epochs;
    int64_t updates;
    int64_t samples; /* trained on, each pass over one counted; not with stages */
    double seconds;  /* of training, evaluation left out: how far that goes is another thing in every run. Not with
                        stages, nor with a schedule that has to know where the run ends (COSINE, LINEAR) */
    gr_last_batch last;
    gr_order order; /* of the training set; evaluation takes its sets in their own */
    gr_schedule schedule;
    int64_t eval_batch;   /* rows in a batch of evaluation; 0: those of a micro-batch */
    bool test_each_epoch; /* also evaluate the test part after every epoch, not only after the last */

    /*
     * Measure the gradient noise scale: from the first micro-batch and the whole batch of each update that has several;
     * the host then waits for each. Not for models with penalties (gr_add_penalty), nor with a loss scale.
     */
    bool noise_scale;
    double sharpness; /* measure it after every epoch, over the training set, with this epsilon; 0: do not */

    /*
     * Ask for every kernel of every update, also of a device that can repeat a whole update (cuda, simt). The same
     * bits, but the host has more to do. Repeated are updates of one pass and one piece that nobody traces; the model
     * must stay as it is during the run.
     */
    bool no_graph;

    int64_t metrics_every; /* read loss and accuracy after every so many updates; 0: at the end of an epoch alone */
    double watch_every;    /* and whenever so many seconds have passed since the last reading; 0: never */
    int workers, prefetch; /* of the loaders: see gr_loader_options */
    bool on_device;        /* likewise, for the training set */

    gr_loss_function loss;  /* in place of gr_loss, also in evaluation; NULL: that. Accuracy is of the labels anyway */
    double label_smoothing; /* gr_loss by gr_smoothed_cross_entropy with this much, also in evaluation; 0: not */

    /*
     * Parameters of a built model whose names match (as in gr_module_freeze) stay as they are behind the first
     * freeze_epochs epochs, but for a pull of look-ahead; their gradients still count in a clipped norm. NULL: none.
     */
    const char *freeze_later;
    int64_t freeze_epochs;

    bool (*report)(void *user, const gr_progress *p); /* after every update and every epoch; false stops; NULL: quiet */
    bool (*stop)(void *user); /* asked before every batch of evaluation: true ends it and the run; NULL: never */
    void *user;               /* for loss, report and stop */
    const gr_checkpoints *checkpoints; /* where the run is kept and goes on from; NULL: nowhere. A run that is stopped
                                          within an epoch then ends without the epoch's evaluation */
} gr_fit_options;

/* How a run ended. */
typedef struct {
    int64_t epochs, updates, samples;
    double train_loss,
        train_accuracy;    /* of the last epoch, while the weights were changing; NAN if no batch was seen */
    gr_metrics val, test;  /* after the last update; samples 0 where there is no such part */
    double seconds;        /* training, evaluation left out */
    double loss_scale;     /* at the end; 1 where there is none */
    int64_t skipped;       /* updates that an overflow has had skipped */
    gr_time_use time;      /* of the whole run */
    int workers, prefetch; /* of the training set's loader; 0: batches were made when they were asked for */
    bool stopped;          /* report said so */
} gr_fit_result;

/*
 * Trains net on split.train, evaluates on split.val and split.test. Plans memory first, so that running out of it is
 * known before the first update. On error the context tells. In a context that only plans (plan_only) that is all:
 * gr_memory_use then tells what the run would take.
 *
 * Losses and right answers are summed on the device and read when somebody wants to see them: each reading makes the
 * host wait for the device. Where it need not (all devices but a GPU) every update is read. A loss that is not finite -
 * with a loss scale (GR_PRECISION_FP16): a scale that is stuck - is an error (GR_NUMERIC), found at the latest 64
 * updates or an epoch's end later, whatever is watched. So is a loss of split.val or split.test that is not finite;
 * where there is neither, a weight that is not when the run is over.
 */
gr_fit_result gr_fit(gr_module *net, gr_optimizer *opt, gr_split split, const gr_fit_options *options);

#ifdef __cplusplus
}
#endif
#endif
