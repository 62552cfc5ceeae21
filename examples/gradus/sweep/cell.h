/* cell.h - one cell of a sweep in a process of its own: what it eats or breaks is gone with it. */
#ifndef GRADUS_CELL_H
#define GRADUS_CELL_H

#include "terminal/complain.h"

typedef struct {
    int code;           /* exit code; 0 with signal */
    int signal;         /* that killed it; 0: none */
    double seconds;     /* from start to end */
    char *result;       /* the last line on its stdout, allocated; NULL: none */
    char trouble[1024]; /* the last of its stderr */
} cell_end;

/*
 * Runs this very program with argv, telling of each line on its stderr, until it ends. When this program is asked to
 * stop, it passes that on. False: no process could be made, complained of.
 */
bool cell_run(char *const *argv, void (*told)(void *user, const char *line), void *user, cell_end *end);

#endif
