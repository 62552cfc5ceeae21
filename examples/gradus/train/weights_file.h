/*
 * weights_file.h - a file of trained weights says what they are of: notes beside the tensors, so that nobody has to
 * remember by which recipe, size and augmentation a network came about, and what its classes are called.
 */
#ifndef GRADUS_WEIGHTS_FILE_H
#define GRADUS_WEIGHTS_FILE_H

#include <jansson.h>

#include "sources/source.h"

/* Writes a run's weights and notes. Returns 0 or an exit code, complained of. */
int weights_file_save(gr_context *ctx, gr_module *net, const resolved *s, const source *data, const char *command);

/* What such a file says of itself. */
typedef struct {
    const char *path;
    const recipe *recipe;
    const char *model;   /* the network's text; NULL: it is the recipe's own */
    int64_t resize;      /* 0: the recipe's size */
    int64_t outputs;     /* of its last dense layer; 0: the network's own */
    const char *augment; /* NULL: the recipe's */
    const char *ema;     /* the decay that they are averages with; NULL: they are weights as they were trained */
    const char *seen;    /* checksums of the files that it was trained on or chosen by; NULL: not known */
    json_t *classes;     /* an array of names; NULL: the file names none */
} weights_notes;

/* What a command's line says of a file that does not say it itself; NULL, 0: nothing. */
typedef struct {
    const char *recipe, *model; /* whose network it is: a recipe's, or a model file's */
    int64_t resize, outputs;
} weights_asked;

/* Reads the notes in path. Returns 0 or an exit code, complained of; weights_file_close is due all the same. */
int weights_file_read(gr_context *ctx, const char *path, const weights_asked *asked, const char *command,
                      weights_notes *notes);
void weights_file_close(weights_notes *notes);

/* Weights with these notes. False: the context tells. */
bool weights_file_rewrite(gr_module *net, const char *path, const weights_notes *notes);

/* The network of the weights, built for pictures of a set and with them. NULL: the context tells. */
gr_module *weights_file_loaded(gr_context *ctx, const weights_notes *notes, const gr_dataset *set);

/* The network of the weights, not built and without them. NULL: the context tells. */
gr_module *weights_file_net(gr_context *ctx, const weights_notes *notes);

/* A class's name, or its number where no name is known. */
const char *weights_file_class(const weights_notes *notes, int class, char text[32]);

#endif
