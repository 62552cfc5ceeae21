/* auto_batch.h - what --batch auto stands for. */
#ifndef GRADUS_AUTO_BATCH_H
#define GRADUS_AUTO_BATCH_H

#include "recipes/recipe.h"
#include "settings/settings.h"

/*
 * The batch size that 'gradus find-batch' advises for a run, told of on stderr. Returns 0 or an exit code, complained
 * of in the name of command.
 */
int auto_batch(const settings *asked, const recipe *r, const char *command, int64_t *batch);

#endif
