/* journal_identity.h - what a sweep is, as its folder has it: sweep.json, and the checksum of it in every row. */
#ifndef GRADUS_JOURNAL_IDENTITY_H
#define GRADUS_JOURNAL_IDENTITY_H

#include "sweep/journal.h"

enum { JOURNAL_PATH = 3072 };

/* The path of a file in the folder, into path, which is returned. */
const char *journal_path(const journal *j, const char *name, char path[JOURNAL_PATH]);

/* Compares sweep.json with identity, or writes it, with the notes. Returns 0 or an exit code, complained of. */
int journal_check_identity(const journal *j, json_t *identity, json_t *notes);

/* The checksum by which the rows of this sweep are known, into j->sweep. Returns 0 or GR_NO_MEMORY, complained of. */
int journal_sum_identity(journal *j, json_t *identity);

#endif
