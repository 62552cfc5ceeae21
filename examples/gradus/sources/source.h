/* source.h - from a run and a data root to the pictures it trains on. */
#ifndef GRADUS_SOURCE_H
#define GRADUS_SOURCE_H

#include "settings/resolved.h"
#include "sources/file_sums.h"

typedef struct source {
    const char *name; /* of the data set: "PetImages", "CIFAR-10", ... or "procedural" */
    char hash[17];    /* 16 hex digits over all parts; "": not known, pictures are decoded late */
    gr_split split;
    gr_dataset *plain_test; /* the test part before the augmentation cuts or resizes it */
    file_sums seen;         /* of training and validation, where the run will write weights and files are known */
    int64_t copies;         /* of one's own pictures: how many to test with are files of those, too */
} source;

void source_close(source *data);

/* --data, else $GRADUS_DATA, else ./datasets. */
const char *source_root(const char *data_option);

/* n samples drawn by formula, of the shape and the number of classes that stand in for the recipe's. NULL: in ctx. */
gr_dataset *source_built_in(gr_context *ctx, const resolved *s, int64_t n, uint64_t seed);

/*
 * Sets of as many samples as the parts of a run have, as source_open has made them: for a context that only plans and
 * looks at none of them.
 */
gr_split source_stand_in(gr_context *ctx, const resolved *s, const int64_t samples[3]);

/* The recipe's built-in samples, split, into data. */
void source_draw(gr_context *ctx, const resolved *s, source *data);

/* Height, width and channels of the run's pictures, before any augmentation. */
void source_shape(const resolved *s, int64_t shape[3]);

int64_t source_per_class(const recipe_split *split);
gr_split source_split(gr_dataset *set, const recipe_split *split);

/*
 * Reads the run's data into ctx and augments them, telling on stderr of files left out. Returns 0 or an exit code,
 * complained of.
 */
int source_open(gr_context *ctx, const resolved *s, const char *command, source *data);

/*
 * Refuses a folder for results that lies in the data set's own, whose folders are the classes: the next run would find
 * one class more. NULL: there is none. named: the option that names it. Returns 0 or GR_USAGE, complained of.
 */
int source_check_outside(const settings *s, const recipe *r, const char *folder, const char *named,
                         const char *command);

/* Hash over the hashes of all parts, or "" where one is not known. */
void source_hash(const gr_split *split, char hash[17]);

/* Refuses a batch that the training set cannot fill. Returns 0 or an exit code, complained of. */
int source_check_batch(const source *data, int64_t batch, gr_last_batch last, const char *command);

#endif
