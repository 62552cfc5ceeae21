/* folder.h - a sweep's folder read back by commands that did not run it: merge, compare, report. */
#ifndef GRADUS_FOLDER_H
#define GRADUS_FOLDER_H

#include "sweep/journal.h"

/* Refuses folders (NULL behind the last) of which two are one: its runs would count twice. Returns 0 or GR_USAGE. */
int folders_check_apart(const char *const *folders, const char *command);

/*
 * sweep.json of a folder: what the sweep is. Its notes, which are not compared, are taken out into *notes (NULL: they
 * are not wanted). Returns 0 or an exit code, complained of in command's name; *identity is to be released in either
 * case, *notes where all went well.
 */
int folder_identity(const char *folder, const char *command, json_t **identity, json_t **notes);

/* The smallest grid that has all rows of a journal. Returns 0 or an exit code, complained of in command's name. */
int folder_grid(const journal *j, const char *command, axes *a, grid *g);

#endif
