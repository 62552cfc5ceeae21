/*
 * journal.h - what a sweep keeps in its folder, so that it can be killed at any moment and continued:
 *   sweep.json     what the sweep is: recipe, data, protocol. Written once; a sweep with another one is refused.
 *   results.jsonl  one row per cell, appended and synced when the cell ends. A torn last line is cut off. At the end of
 *                  each stand "sweep", a checksum of what the sweep is, and "check", one of the line before it.
 *   auto-batch.json  what --batch auto stands for in it, where it was asked for
 *   status.json    what the sweep is at: status.h
 *   sweep.lock     held while a sweep works in the folder.
 */
#ifndef GRADUS_JOURNAL_H
#define GRADUS_JOURNAL_H

#include <jansson.h>

#include "sweep/grid.h"

/* In a row: the most cells that were at work while its own was, where there were others. Its times tell of all. */
#define SIDE_BY_SIDE "side_by_side"

/* In a row of a sweep over several models: a checksum of the text of its own, which sweep.json does not hold. */
#define MODEL_TEXT "model_text"

typedef struct {
    const char *folder;
    int lock, file;     /* descriptors; -1: not open */
    bool fresh;         /* the folder was no sweep's before */
    char sweep[9];      /* checksum of what the sweep is */
    int64_t time_limit; /* of a cell now, in seconds; 0: none */
    json_t *rows;       /* array, in the order of the file */
} journal;

/* Makes the folder and takes its lock, for which it waits a few seconds. Returns 0 or an exit code, complained of. */
int journal_lock(journal *j, const char *folder);

/*
 * Compares sweep.json with identity, or writes it, with notes that are not compared, and reads the rows. Returns 0 or
 * an exit code, complained of.
 */
int journal_open(journal *j, json_t *identity, json_t *notes);

/* Whether a sweep of this identity may go on in the folder, which has a sweep.json. Returns 0 or an exit code. */
int journal_compare(const journal *j, json_t *identity);

/*
 * Reads the rows of a folder that others may be at work in, without a lock and without touching it; a torn last line is
 * passed over. identity: its sweep.json without the notes. Returns 0 or an exit code, complained of; the rows are to be
 * released.
 */
int journal_read(journal *j, const char *folder, json_t *identity);

/* The last row of a cell, known by its optimizer, batch size, seed and variant; NULL: none. Owned by the journal. */
json_t *journal_find(const journal *j, const cell *c);

/*
 * True when a cell needs to run: it has no row, or one that says that it failed, was stopped, or took longer than a
 * limit that was shorter than it is now.
 */
bool journal_lacks(const journal *j, const cell *c);

/* Appends a row and syncs it; takes the reference. Returns 0 or an exit code, complained of. */
int journal_append(journal *j, json_t *row);

/* Lets go of the folder; one in which nothing has been written goes away. */
void journal_close(journal *j);

#endif
