/*
 * checkpoint_folder.h - the checkpoints of a run: checkpoint-UPDATE.safetensors, of which the last few are kept, and
 * best.safetensors. One run at a time works in a folder.
 */
#ifndef GRADUS_CHECKPOINT_FOLDER_H
#define GRADUS_CHECKPOINT_FOLDER_H

#include "core/core.h"

typedef struct {
    gr_context *ctx;
    const char *path;
    int lock; /* the folder, open; -1: it is not */
    int keep;
} gr_checkpoint_folder;

enum { GR__CHECKPOINT_PATH = 4096 };

/*
 * Makes the folder where there is none, locks it and clears away what a killed run had begun to write. False: recorded;
 * gr__checkpoint_folder_close is due all the same.
 */
bool gr__checkpoint_folder_open(gr_checkpoint_folder *f, gr_context *ctx, const char *path, int keep);
void gr__checkpoint_folder_close(gr_checkpoint_folder *f);

/* The last update before update that there is a checkpoint of; -1: none. False: recorded. */
bool gr__checkpoint_folder_last(const gr_checkpoint_folder *f, int64_t before, int64_t *update);

void gr__checkpoint_path(const gr_checkpoint_folder *f, int64_t update, char path[GR__CHECKPOINT_PATH]);
void gr__checkpoint_best_path(const gr_checkpoint_folder *f, char path[GR__CHECKPOINT_PATH]);

/* Removes all but the last few of those up to update. */
void gr__checkpoint_folder_thin(const gr_checkpoint_folder *f, int64_t update);

/* Takes a file that is damaged out of the run: it gets ".damaged" behind its name. */
void gr__checkpoint_set_aside(const gr_checkpoint_folder *f, int64_t update);

#endif
