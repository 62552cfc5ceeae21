/* settings.c - the options behind settings.h. */
#include "settings/settings.h"

#define AT(field) offsetof(settings, field)

static const char *const batch_words[] = {"auto", NULL}; /* BATCH_AUTO */
static const char *const head_words[] = {"auto", NULL};  /* HEAD_AUTO */

const option *settings_cell(void)
{
    static option options[] = {
        COUNT_OR_OPTION("batch", "N", AT(batch), 1, MAX_BATCH, batch_words,
                        "samples per update, or auto: what 'gradus find-batch' advises (default: the recipe's)"),
        CHOICE_OPTION("optimizer", "NAME", AT(optimizer), optimizers, NULL),
        COUNT_OPTION("seed", "N", AT(seed), 0, INT64_MAX,
                     "draws the initial weights and the order of the samples (default: 1)"),
        {0},
    };
    options[1].help = optimizer_help();
    return options;
}

const option settings_batches[] = {
    TEXT_OPTION("batch-schedule", "LIST", AT(batch_schedule),
                "batch sizes by epoch, such as 0:64,30:320,60:1600: the batch grows where the rate would fall"),
    COUNT_OPTION(
        "accumulate", "K", AT(accumulate), 1, 65536,
        "an update is made of K micro-batches of --batch samples: its batch size is K times as large, its memory is "
        "not"),
    {0},
};

const option settings_protocol[] = {
    COUNT_OPTION(
        "micro-batch", "N", AT(micro_batch), 1, MAX_BATCH,
        "the most samples in memory at a time; a larger batch is taken in pieces whose gradients add up to its own "
        "(batch normalisation sees each piece alone)"),
    COUNT_OPTION("shards", "S", AT(shards), 1, GR_MAX_SHARDS,
                 "cut the batch into so many shards, a power of two, each with a gradient of its own, added up in an "
                 "order of their own (default: 1)"),
    CHOICE_OPTION("batch-norm", "NAME", AT(batch_norm), batch_norm_names,
                  "with --shards: whether batch normalisation takes its statistics of each shard by itself, local, or "
                  "of the whole batch, synchronised, for which every shard has a thread or a process of its own "
                  "(default: local)"),
    POSITIVE_OPTION("lr", "X", AT(lr), "learning rate (default: the recipe's for the optimizer)"),
    FLAG_OPTION("decay-weights-only", AT(decay_weights_only),
                "no weight decay on biases and on batch normalisation's scales and shifts"),
    AMOUNT_OPTION("clip-norm", "X", AT(clip_norm),
                  "scale the gradients down to this norm, all together, where it is larger (default: 0, not)"),
    AMOUNT_OPTION("label-smoothing", "X", AT(label_smoothing),
                  "share of each target that is spread over all classes, in training and in evaluation: below 1 "
                  "(usual: 0.1; default: the recipe's, or 0)"),
    CHOICE_OPTION(
        "lr-schedule", "NAME", AT(lr_schedule), lr_schedule_names,
        "how the learning rate goes on: constant, cosine or linear (to --lr-min at the end of the run), steps, or "
        "triangular (from --lr-min up and down) (default: the recipe's)"),
    AMOUNT_OPTION("lr-min", "X", AT(lr_min), "with cosine, linear and triangular: the lowest rate (default: 0)"),
    COUNT_OPTION(
        "lr-every", "EPOCHS", AT(lr_every), 1, 1000000,
        "with steps: epochs between two of them (default: 30); with triangular: epochs up, and down (default: 2)"),
    POSITIVE_OPTION("lr-gamma", "X", AT(lr_gamma), "with steps: what each multiplies the rate by (default: 0.1)"),
    AMOUNT_OPTION("warm-up", "EPOCHS", AT(warm_up),
                  "epochs, whole or not, in which the rate first grows in a straight line (default: the recipe's, or "
                  "0)"),
    AMOUNT_OPTION("warm-up-from", "X", AT(warm_up_from),
                  "with --warm-up: the share of the rate that it grows from, up to 1 (default: 0)"),
    CHOICE_OPTION(
        "lr-rule", "RULE", AT(lr_rule), lr_rule_names,
        "what the batch size does to the rate, with --batch-schedule the first: none, linear (in proportion) or sqrt "
        "(to its root) (default: none)"),
    COUNT_OPTION("base-batch", "N", AT(base_batch), 1, MAX_BATCH,
                 "with --lr-rule: the batch size that --lr is for (default: 32)"),
    FLAG_OPTION(
        "noise-scale", AT(noise_scale),
        "measure the gradient noise scale and put it in every epoch's line (without --micro-batch in two halves of a "
        "batch)"),
    POSITIVE_OPTION(
        "sharpness", "EPSILON", AT(sharpness),
        "measure after every epoch how much the training loss can rise within EPSILON of each weight (usual: 1e-3): "
        "eleven more passes"),
    COUNT_OPTION("epochs", "N", AT(epochs), 1, 1000000, "passes over the training set (default: the recipe's)"),
    COUNT_OPTION("updates", "N", AT(updates), 1, INT64_MAX / 2, "stop after so many updates instead"),
    TEXT_OPTION(
        "budget", "KIND=N", AT(budget),
        "what a run may spend, in place of both: epochs=N, updates=N, samples=N (trained on, each pass over one "
        "counted) or seconds=X (of training; where that ends is another update every time)"),
    CHOICE_OPTION(
        "last-batch", "POLICY", AT(last_batch), last_batch_names,
        "what becomes of a short last batch: keep, drop, pad (with samples of weight 0) or wrap (from the epoch's "
        "start) (default: the recipe's)"),
    FLAG_OPTION("no-shuffle", AT(no_shuffle), "take the samples in the data set's order, every epoch"),
    FLAG_OPTION("no-fusion", AT(no_fusion), "build the network from single operations only"),
    COUNT_OPTION("split-seed", "N", AT(split_seed), 1, INT64_MAX,
                 "permute the files before they are split (default: numeric file order)"),
    AMOUNT_OPTION(
        "val-share", "X", AT(val_share),
        "of pictures of one's own: the share of each class to validate with after every epoch (default: 0.1)"),
    AMOUNT_OPTION("test-share", "X", AT(test_share), "likewise: the share to test with at the end (default: 0.2)"),
    CHOICE_OPTION("filter", "NAME", AT(filter), filter_names, FILTER_HELP),
    COUNT_OPTION("resize", "SIDE", AT(resize), 1, 4096,
                 "resize the pictures to SIDE x SIDE by nearest neighbour (default: the recipe's size)"),
    TEXT_OPTION("model", "FILE", AT(model), MODEL_HELP),
    TEXT_OPTION("augment", "PLAN", AT(augment), AUGMENT_HELP),
    TEXT_OPTION("init-weights", "FILE", AT(init_weights),
                "start from these weights (safetensors or .npz): of --save-weights, of PyTorch or of Keras"),
    TEXT_OPTION("freeze", "NAMES", AT(freeze),
                "leave the parameters of these names as they are, such as conv1.*,layer[123].*: no gradient, no "
                "optimizer state, and no backward pass where nothing below is trained"),
    FLAG_OPTION("freeze-statistics", AT(freeze_statistics),
                "with --freeze: batch normalisation under these names goes by its running statistics, which stay"),
    COUNT_OR_OPTION("replace-head", "N", AT(replace_head), 1, 1000000, head_words,
                    "give the last dense layer N outputs, or auto: for the data's classes; where --init-weights has "
                    "another shape for it, it begins with first values of its own"),
    POSITIVE_OPTION("head-lr", "X", AT(head_lr),
                    "learning rate of the last dense layer, where --lr is the others'; it goes as theirs does"),
    AMOUNT_OPTION("ema", "DECAY", AT(ema),
                  "average the weights over the updates, as avg = DECAY avg + (1 - DECAY) weights, such as 0.99; "
                  "evaluation and --save-weights take the averages (default: 0, none)"),
    TEXT_OPTION("lookahead", "N:DECAY[:grows]", AT(lookahead),
                "behind every N updates slow = DECAY slow + (1 - DECAY) weights, and the weights become the slow ones, "
                "such as 5:0.5; grows: DECAY times the cube of the share of the run that is done; none: not (default: "
                "the recipe's)"),
    TEXT_OPTION("lr-scale", "NAMES=X[;...]", AT(lr_scale),
                "the parameters of these names learn at X times the rate, with the weight decay of all, such as "
                "bn*.bias=64"),
    TEXT_OPTION("freeze-after", "NAMES=EPOCHS", AT(freeze_after),
                "the parameters of these names stay as they are behind so many epochs, such as conv1.bias=3"),
    TEXT_OPTION("whiten", "NAME", AT(whiten),
                "the filters of this name, two for each number in their window, begin as those that whiten the patches "
                "of the first 5000 training pictures, such as conv1.weight"),
    TEXT_OPTION(
        "tta", "VIEWS", AT(tta),
        "test-time augmentation: at the end the test part is also seen mirrored (flip), or moved by N pixels up "
        "and to the left, and down and to the right (shift=N), or both, such as flip,shift=1, and the mean of "
        "the probabilities counted; none: not (default: the recipe's)"),
    POSITIVE_OPTION("target-accuracy", "PERCENT", AT(target_accuracy),
                    "tell after how much training the test accuracy first reached this: it is measured after every "
                    "epoch, at the end by the views of --tta too; measuring takes no part in the time, and the run "
                    "goes on to its end (default: the recipe's)"),
    DEVICE_OPTION(AT(device)),
    CHOICE_OPTION("precision", "NAME", AT(precision), precisions, PRECISION_HELP),
    BYTES_OPTION("memory-limit", AT(memory_limit),
                 "the most that tensors may take together, such as 512M or 2G (default: none)"),
    {0},
};

const option settings_machine[] = {
    TEXT_OPTION(
        "data", "PATH", AT(data),
        "where the data sets are; or the set itself: a folder, an archive as it was fetched, a packed set (.grd) "
        "(default: $GRADUS_DATA, else ./datasets)"),
    FLAG_OPTION(
        "procedural", AT(procedural),
        "train on built-in pictures drawn by formula instead: two classes, no download, never mixed up with the real "
        "data"),
    COUNT_OPTION("threads", "N", AT(threads), 1, 1024,
                 "the results do not depend on it (default, and at most: all this process may use)"),
    COUNT_OPTION(
        "workers", "N", AT(workers), 1, GR_MAX_WORKERS,
        "threads that make batches ahead of the training; the batches are the same (default: up to 8 where a GPU "
        "computes, else none: the training's own threads make each batch when it is its turn)"),
    COUNT_OPTION("prefetch", "N", AT(prefetch), 1, GR_MAX_PREFETCH,
                 "batches that the workers may be ahead (default: 2)"),
    CHOICE_OPTION(
        "preload", "WHERE", AT(preload), preload_names,
        "where the pictures are kept: none (only the list of files; each is decoded when a batch wants it), ram, or "
        "device (batches are then made there, of indices) (default: ram)"),
    BYTES_OPTION("preload-limit", AT(preload_limit),
                 "the most that the pictures of a folder or an archive may take in ram (default: three quarters of "
                 "the machine's memory)"),
    COUNT_OPTION("metrics-every", "N", AT(metrics_every), 1, 1000000000,
                 "have the host wait after every N updates to read loss and accuracy (default: once an epoch, and for "
                 "the display; a CPU has nothing to wait for)"),
    FLAG_OPTION(
        "no-graph", AT(no_graph),
        "ask for every kernel of every update, also where the device could repeat the update as a whole (cuda, simt)"),
    {0},
};

const option settings_usage[] = {
    FLAG_OPTION(
        "usage", AT(usage),
        "measure this machine's limits before a run of one rank, which takes a second: rows then have the share of "
        "them that the network's operations reach (mfu); what is printed has each number's definition"),
    {0},
};

const option settings_checkpoints[] = {
    TEXT_OPTION(
        "checkpoint", "FOLDER", AT(checkpoint),
        "keep the state of the run there: after every epoch, and when it is stopped; the last ones, and the best "
        "by validation accuracy"),
    FLAG_OPTION("resume", AT(resume),
                "go on from the last checkpoint of this same run, to the same bits; where there is none yet, begin"),
    TEXT_OPTION("checkpoint-every", "N", AT(checkpoint_every),
                "also after every N updates, or with Nm after every N minutes"),
    FLAG_OPTION("no-epoch-checkpoints", AT(no_epoch_checkpoints),
                "not after every epoch, and none of the best: as --checkpoint-every says, and when the run is stopped"),
    COUNT_OPTION("keep", "N", AT(keep), 1, 1000000, "how many of the last checkpoints stay (default: 2)"),
    {0},
};
