/* target.h - when a run has reached the accuracy that was aimed at (--target-accuracy). */
#ifndef GRADUS_TARGET_H
#define GRADUS_TARGET_H

#include "train/row.h"

/*
 * Seconds of training, evaluation left out, up to the first evaluation of the test part that reached the target: after
 * an epoch, or at the end by the views of --tta. NAN: none did, or there is no target.
 */
double target_seconds(const result *r);

/* Whether anything can be told of a target: there is one, and something was evaluated. */
bool target_is_told(const result *r);

/* Seconds that the run spent on evaluation, views and all. */
double evaluation_seconds(const result *r);

#endif
