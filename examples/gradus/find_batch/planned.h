/* planned.h - the memory of a run, known from its plan before any is taken. */
#ifndef GRADUS_PLANNED_H
#define GRADUS_PLANNED_H

#include "sources/source.h"

/*
 * Bytes that a run over so many samples for training, validation and test takes at its peak, evaluation included where
 * there is one. Below 0: an exit code, negated, complained of in the name of command (NULL: of nothing).
 */
int64_t planned_peak(const resolved *run, const int64_t samples[3], const char *command);

/*
 * Whether a run in ctx, its data being read, stays within what the control group of this process leaves: beyond, the
 * system would kill it without a word. With a --memory-limit, or on a GPU, nobody asks. Returns 0 or an exit code,
 * complained of.
 */
int planned_within_group(const gr_context *ctx, const resolved *run, const source *data, const char *command);

#endif
