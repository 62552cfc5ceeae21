/* words.h - what a report says of a sweep in words: the command that makes it again, and what its rows cannot say. */
#ifndef GRADUS_WORDS_H
#define GRADUS_WORDS_H

#include "compare/runs.h"
#include "sweep/outcome.h"

enum { FEWEST_RUNS = 3 }; /* for an interval in a picture: from two, Student's t makes it 12.7 standard errors wide */

/* Text that others have had a hand in; what is not UTF-8 has no place in JSON. A new reference. */
json_t *text_json(const char *text);

/* "gradus report FOLDER...", with --out unless it is NULL. folders ends with NULL. A new reference; NULL: no memory. */
json_t *report_words(const char *const *folders, const char *out);

/*
 * "gradus sweep RECIPE ... --out FOLDER" with what was set otherwise than the recipe has it. A new reference;
 * NULL: no memory.
 */
json_t *command_words(const runs *r, const grid *g, const recipe *of);

/*
 * What to keep in mind of the accuracies: updates of each cell, the test set's error, seeds, runs that ended in the
 * constant answer, cells that are not done. An array of sentences, a new reference.
 */
json_t *accuracy_caveats(const runs *r, const outcome *t);

/* The same of times and memory: on which machines they were taken. */
json_t *machine_caveats(const runs *r);

#endif
