/* check.h - what no single option can tell: two that exclude each other, one that means nothing without another. */
#ifndef GRADUS_CHECK_H
#define GRADUS_CHECK_H

#include "recipes/recipe.h"
#include "settings/settings.h"

/* The optimizers of a run, or of a sweep's cells. */
typedef struct {
    const optimizer *list[32];
    int n;
} optimizer_set;

/* The one that was asked for, or is the recipe's. */
optimizer_set settings_optimizers(const settings *s, const recipe *r);

/* Checks settings for a recipe and these optimizers. Returns 0 or an exit code, complained of. */
int settings_check(const settings *s, const recipe *r, const char *command, const optimizer_set *used);

/*
 * The recipe of that name; where none is named and data or a network are, that of pictures of one's own. NULL:
 * complained of. Slashes at the end of the path of data are taken off.
 */
const recipe *settings_recipe(settings *s, const char *name, const char *command);

/* Takes out what only other optimizers of a sweep understand. */
void settings_keep(settings *s, const optimizer *o);

/* Complains when a file that is to be read cannot be. Returns 0 or an exit code. */
int settings_check_inputs(const settings *s, const char *command);

#endif
