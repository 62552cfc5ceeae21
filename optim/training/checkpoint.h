/*
 * checkpoint.h - a file from which training goes on:
 *
 *   __metadata__           checksum; the run's settings, a key each; a note of the program's own
 *   conv1.weight, ...      parameters and running statistics, as gr_save_weights names and orders them, none rounded
 *   checkpoint/moment0     of the optimizer, laid out as the slab of parameters
 *   checkpoint/ema0, 1     averages of weights and of running statistics, laid out as their slabs, where they are kept
 *   checkpoint/counts      updates, skipped ones, draws of random numbers
 *   checkpoint/numbers     learning rate, skipped updates of others
 *   checkpoint/scaler      the loss scale and its counts, where there is one
 *   checkpoint/...         what whoever trains has to say beside, see fit_state.c
 *
 * Everything else that an update depends on follows from (seed, epoch, sample) or is made anew from the weights.
 */
#ifndef GRADUS_CHECKPOINT_H
#define GRADUS_CHECKPOINT_H

#include "core/safetensors.h"
#include "optim/optimizer.h"

enum { GR__CHECKPOINT_MORE = 8 };

/* What a caller adds. */
typedef struct {
    const gr_setting *settings; /* of which each must be the same when the file is read */
    int n_settings;
    const char *note; /* NULL: none */
    gr_saved_tensor more[GR__CHECKPOINT_MORE];
    int n_more;
} gr_checkpoint;

/* False: recorded, and what was there before is there still. */
bool gr__checkpoint_write(gr_optimizer *opt, const char *path, const gr_checkpoint *c);

/*
 * Reads a file and checks it against the model, the optimizer and c's settings; changes nothing. False: recorded, with
 * GR_BAD_DATA a file that is damaged or none, with GR_USAGE one of another run; nothing is left to free.
 */
bool gr__checkpoint_read(gr_optimizer *opt, const char *path, const gr_checkpoint *c, gr_safetensors *file);

/* Puts what was read and checked in its place. False: recorded. */
bool gr__checkpoint_restore(gr_optimizer *opt, const gr_safetensors *file);

/* Copies a tensor of count elements. False: recorded, unless the file has none such. */
bool gr__checkpoint_copy(gr_context *ctx, const gr_safetensors *file, const char *name, gr_type type, int64_t count,
                         void *to);

/* The note, the context's until gr_close; "" where there is none. NULL: recorded. */
const char *gr__checkpoint_note(gr_context *ctx, const gr_safetensors *file);

#endif
