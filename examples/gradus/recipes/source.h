/* source.h - from a recipe and a data root to the pictures it trains on. */
#ifndef GRADUS_SOURCE_H
#define GRADUS_SOURCE_H

#include "recipes/settings.h"

typedef struct {
    const char *name; /* of the data set: "PetImages", "CIFAR-10", ... or "procedural" */
    char hash[17];    /* 16 hex digits over all parts */
    gr_split split;
} source;

/* --data, else $GRADUS_DATA, else ./datasets. */
const char *source_root(const settings *s);

/* Where the recipe's data lie below root, into path; "built in" for a table. False: not there. */
bool source_find(const recipe *r, const char *root, char *path, size_t size);

/* What to do where the recipe's data are missing, into text, which is returned. */
const char *source_cure(const recipe *r, char *text, size_t size);

/* n samples drawn by formula, of the shape and the number of classes that stand in for the recipe's. NULL: in ctx. */
gr_dataset *source_built_in(gr_context *ctx, const recipe *r, const settings *s, int64_t n, uint64_t seed);

/* Height, width and channels of the recipe's pictures, before any augmentation. */
void source_shape(const recipe *r, const settings *s, int64_t shape[3]);

/*
 * Reads the recipe's data into ctx and augments it as the settings, which are complete, say, telling on stderr of files
 * left out. Returns 0 or an exit code, complained of.
 */
int source_open(gr_context *ctx, const recipe *r, const settings *s, const char *command, source *data);

/* Refuses a batch that the training set cannot fill. Returns 0 or an exit code, complained of. */
int source_check_batch(const source *data, int64_t batch, const char *last_batch, const char *command);

#endif
