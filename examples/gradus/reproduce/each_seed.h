/*
 * each_seed.h - an arm that is no sweep: a command that is given once for each seed, in a process of its own, and whose
 * last line is its row. The rows stand in rows.jsonl of the arm's folder, so that what is there is not run again.
 */
#ifndef GRADUS_EACH_SEED_H
#define GRADUS_EACH_SEED_H

#include <jansson.h>

#include "reproduce/arms.h"

/* Whether an arm is such a one. */
bool each_seed_is(const arm *a);

/* The words for a seed, with blanks between them, into text. */
void each_seed_text(const arm *a, const char *out, int64_t seed, char *text, size_t size);

/* Runs the seeds that are missing, or with --dry-run tells how many are. Returns 0 or an exit code, complained of. */
int each_seed_do(const experiment *e, const arm *a, const reproduce_asks *asks);

/*
 * Appends the rows of a folder to an array; a line that has "rows" is as many. What a killed command has left of a line
 * is passed over, and with mend, for whoever holds the folder's lock, cut off. Returns 0, also where the folder is not
 * there yet, or an exit code, complained of.
 */
int each_seed_read(const char *folder, json_t *rows, bool mend);

#endif
