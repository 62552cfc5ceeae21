/*
 * status.h - status.json in a sweep's folder: what the sweep is at, for whoever looks from outside. A sweep that works
 * says every few seconds that it lives; one that was killed leaves behind which cell it was at.
 */
#ifndef GRADUS_STATUS_H
#define GRADUS_STATUS_H

#include <jansson.h>

typedef struct {
    const char *folder;
    double written;      /* seconds on the clock when last; 0: never */
    char began[32];      /* when the cell at work did */
    const char *cell;    /* in words; NULL: none */
    int finished, cells; /* of this call */
} status;

/* Writes it: that the sweep is RUNNING a cell, or what it ENDED as, "STOPPED" or "DONE". A failure goes unnoticed. */
void status_write(status *s, const char *state);

/* A cell begins. */
void status_begin(status *s, const char *cell, int finished, int cells);

/* The sweep lives: writes once in ten seconds. */
void status_beat(status *s);

/*
 * What stands there: "RUNNING" while the sweep is at work, "INTERRUPTED" when it was killed, else what it ended as;
 * "": there is nothing. The cell it was at goes into cell.
 */
const char *status_read(const char *folder, char *cell, size_t size);

#endif
