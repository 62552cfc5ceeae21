/*
 * weights_file.h - a file of trained weights says what they are of: notes beside the tensors, so that nobody has to
 * remember by which recipe, size and augmentation a network came about, and what its classes are called.
 */
#ifndef GRADUS_WEIGHTS_FILE_H
#define GRADUS_WEIGHTS_FILE_H

#include <jansson.h>

#include "sources/source.h"

/* Writes a run's weights and notes. False: the context tells. */
bool weights_file_save(gr_module *net, const char *path, const resolved *s, const source *data);

/*
 * Fills asked's resize and augment from the notes in path. recipe_asked: for a file without notes; NULL: none.
 * *classes: an array of names, to be released; NULL: the file names none. Returns the recipe; NULL: complained of, with
 * the exit code in *code.
 */
const recipe *weights_file_read(gr_context *ctx, const char *path, const char *recipe_asked, settings *asked,
                                json_t **classes, const char *command, int *code);

#endif
