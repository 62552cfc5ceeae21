/* tensorboard.h - the runs of a sweep for TensorBoard: a folder each, with numbers by epoch and the run's settings. */
#ifndef GRADUS_TENSORBOARD_H
#define GRADUS_TENSORBOARD_H

#include "compare/runs.h"

/*
 * Writes FOLDER/LABEL/RUN/events.out.tfevents.0000000000.gradus of every cell that has a row, in place of those of an
 * earlier call; the same rows give the same bytes. Returns 0 or an exit code, complained of.
 */
int tensorboard_write(const runs *r, const char *folder);

#endif
