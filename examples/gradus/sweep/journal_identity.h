/* journal_identity.h - what a sweep is, as its folder has it: sweep.json, and the checksum of it in every row. */
#ifndef GRADUS_JOURNAL_IDENTITY_H
#define GRADUS_JOURNAL_IDENTITY_H

#include "sweep/journal.h"

enum { JOURNAL_PATH = 3072, IDENTITY_TEXT = 800 };

/* The path of a file in the folder, into path, which is returned. */
const char *journal_path(const journal *j, const char *name, char path[JOURNAL_PATH]);

/*
 * Whether a sweep has other settings than one before; then all of them in text, as "lr was 0.01, now it is 0.02" with
 * the words "was" and "now it is".
 */
bool identity_differs(const json_t *before, json_t *now, const char *const words[2], char text[IDENTITY_TEXT]);

/* Compares sweep.json with identity, or writes it, with the notes. Returns 0 or an exit code, complained of. */
int journal_check_identity(const journal *j, json_t *identity, json_t *notes);

/* The checksum by which the rows of this sweep are known, into j->sweep. Returns 0 or GR_NO_MEMORY, complained of. */
int journal_sum_identity(journal *j, json_t *identity);

#endif
