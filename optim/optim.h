/*
 * optim.h - the public face of optim/: optimizers, the fit loop, evaluation.
 */
#ifndef GRADUS_OPTIM_H
#define GRADUS_OPTIM_H

#include "data/data.h"
#include "nn/nn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gr_optimizer gr_optimizer;

typedef struct {
    double lr;           /* learning rate; 0: 0.01 */
    double momentum;     /* in [0, 1) */
    bool nesterov;
    double weight_decay; /* part of the gradient, as torch.optim.SGD has it */
} gr_sgd_options;

typedef struct {
    double lr;         /* 0: 0.001 */
    gr_adam_args adam; /* zero: Keras' form, beta 0.9 and 0.999, epsilon 1e-7 */
} gr_adam_options;

gr_optimizer *gr_sgd(gr_context *ctx, gr_module *net, const gr_sgd_options *options);
gr_optimizer *gr_adam(gr_context *ctx, gr_module *net, const gr_adam_options *options);

/* Learning rate from the next update on. In gr_fit a schedule other than GR_CONSTANT sets it before each update. */
bool gr_set_lr(gr_optimizer *opt, double lr);

/* One update from the gradients that gr_backward has left; marks them empty. */
bool gr_optimizer_step(gr_optimizer *opt);

/*
 * gr_backward and gr_optimizer_step in one, free to fuse: a dense layer's weights are updated while its gradient is
 * computed, and that gradient is never stored. The same update, less memory and time.
 */
bool gr_minimize(gr_optimizer *opt, gr_tensor *loss);

/* The loss that fits a model's answer z: sigmoid_bce for one logit, softmax_cross_entropy for more. */
gr_tensor *gr_loss(gr_tensor *z, const gr_batch *batch);

typedef struct {
    double loss, accuracy;        /* means over the samples, the loss with gr_add_penalty; NAN when there were none */
    double precision, recall, f1; /* of the second of two classes; of more, the plain mean over those that occur */
    int64_t samples;
    int classes;
    const double *confusion; /* [classes,classes], row: the label, column: the answer. Of gr_fit's result: the context's,
                                until gr_close; in its reports: until they return; of gr_evaluate: NULL */
} gr_metrics;

/* Runs the model over a whole set without a tape, 64 samples at a time. */
gr_metrics gr_evaluate(gr_module *net, gr_dataset *set);

/* What fit knows after an update or an epoch. */
typedef struct {
    int64_t epoch, epochs;     /* this one from 1, of so many (0: ends by updates) */
    int64_t update, updates;   /* updates so far, of so many */
    int64_t batch_in_epoch, batches; /* batches of this epoch so far, of so many */
    int64_t samples;           /* trained on since the start */
    double loss;               /* after an update: mean over the samples since the last reading of the device (of its batch,
                                  then, with metrics_every 1), NAN before the first; after an epoch: mean over its samples */
    double accuracy;           /* likewise, fraction */
    bool fresh;                /* loss and accuracy were read after this update */
    double seconds;            /* training time since the start, evaluation left out */
    bool epoch_end;
    gr_metrics val, test;      /* at an epoch's end, where asked for; samples 0 otherwise */
} gr_progress;

/* How the learning rate goes on from the optimizer's own. */
typedef enum {
    GR_CONSTANT = 0,
    GR_COSINE, /* down half a cosine wave to lr_min at the end of the run: Loshchilov and Hutter 2017, without restarts */
    GR_STEPS   /* times gamma after every so many epochs */
} gr_schedule_kind;

typedef struct {
    gr_schedule_kind kind;
    double lr_min;  /* COSINE */
    int64_t every;  /* STEPS: epochs; 0: 30 */
    double gamma;   /* STEPS: 0: 0.1 */
} gr_schedule;

/*
 * Rate of update number update, from 0, of a run of so many, per_epoch to an epoch:
 * COSINE lr_min + (lr - lr_min) (1 + cos(pi update / updates)) / 2, STEPS lr gamma^floor(update / (every per_epoch)).
 */
double gr_scheduled_lr(const gr_schedule *s, double lr, int64_t update, int64_t updates, int64_t per_epoch);

typedef struct {
    int64_t batch;            /* samples in an update */
    int64_t epochs;           /* stop after so many; 0: by updates */
    int64_t updates;          /* stop after so many; 0: by epochs */
    gr_last_batch last;
    bool no_shuffle;
    gr_schedule schedule;
    int64_t eval_batch;       /* rows in a batch of evaluation; 0: batch */
    bool test_each_epoch;     /* also evaluate the test part after every epoch, not only after the last */
    int64_t metrics_every;    /* read loss and accuracy after every so many updates; 0: at the end of an epoch alone */
    double watch_every;       /* and whenever so many seconds have passed since the last reading; 0: never */
    bool (*report)(void *user, const gr_progress *p); /* after every update and every epoch; false stops; NULL: quiet */
    void *user;
} gr_fit_options;

/* How a run ended. */
typedef struct {
    int64_t epochs, updates, samples;
    double train_loss, train_accuracy; /* of the last epoch, while the weights were changing; NAN if no batch was seen */
    gr_metrics val, test;              /* after the last update; samples 0 where there is no such part */
    double seconds;                    /* training, evaluation left out */
    bool stopped;                      /* report said so */
} gr_fit_result;

/*
 * Trains net on split.train, evaluates on split.val and split.test. Plans memory first, so that running out of it is
 * known before the first update. On error the context tells.
 *
 * Losses and right answers are summed on the device and read when somebody wants to see them: each reading makes the host
 * wait for the device. Where it need not (all devices but a GPU) every update is read. A loss that is not
 * finite is an error (GR_NUMERIC), found at the latest 64 updates or an epoch's end later, whatever is watched.
 */
gr_fit_result gr_fit(gr_module *net, gr_optimizer *opt, gr_split split, const gr_fit_options *options);

#ifdef __cplusplus
}
#endif
#endif
