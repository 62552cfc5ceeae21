/* cell_words.h - the command line of a cell: gradus train with all that was asked for. */
#ifndef GRADUS_CELL_WORDS_H
#define GRADUS_CELL_WORDS_H

#include "recipes/recipe.h"
#include "settings/settings.h"

/*
 * Every setting that was given, so that it is checked once more where it is used; NULL behind the last word. NULL: no
 * memory. To be freed by cell_words_free.
 */
char **cell_words_make(const recipe *r, const settings *s);
void cell_words_free(char **argv);

#endif
