/*
 * status.h - status.json in a sweep's folder: what the sweep is at, for whoever looks from outside. A sweep that works
 * says every few seconds that it lives; one that was killed leaves behind which cells it was at.
 */
#ifndef GRADUS_STATUS_H
#define GRADUS_STATUS_H

#include <jansson.h>
#include <stdbool.h>

#include "sweep/cell.h"

/* A cell at work. */
typedef struct {
    const char *words;
    int pid;
    char began[32], heard[32]; /* when it did, and when it last said something */
} status_cell;

typedef struct {
    const char *folder;
    double written; /* seconds on the clock when last; 0: never */
    status_cell *at_work[MOST_CELLS];
    int n;               /* of them */
    int finished, cells; /* of this call */
} status;

/* Writes it: that the sweep is RUNNING, or what it ENDED as, "STOPPED" or "DONE". A failure goes unnoticed. */
void status_write(status *s, const char *state);

/* A cell begins, its words and pid being set; it says something; it is over. */
void status_begin(status *s, status_cell *c);
void status_heard(status_cell *c);
void status_end(status *s, status_cell *c);

/* The sweep lives: writes once in ten seconds. */
void status_beat(status *s);

/* What stands there, for others. */
typedef struct {
    json_t *at_work; /* the cells in words, an array; to be released */
    bool lives;      /* a sweep is at work in the folder; false: one that had cells at work was killed */
    char who[300];   /* "process 7 on host" */
    double silent;   /* seconds since its last sign of life */
} status_seen;

status_seen status_read(const char *folder);

/* A sweep at work that has been silent for so many seconds is stopped, or its machine is gone. */
#define LONGEST_SILENCE 60

#endif
