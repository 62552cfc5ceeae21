/* cell.h - one cell of a sweep in a process of its own: what it eats or breaks is gone with it. */
#ifndef GRADUS_CELL_H
#define GRADUS_CELL_H

#include "terminal/complain.h"

typedef struct {
    int code;           /* exit code; 0 with signal */
    int signal;         /* that killed it; 0: none */
    bool timed_out;     /* it was killed for taking too long */
    double seconds;     /* from start to end */
    char *result;       /* the last line on its stdout, allocated; NULL: none */
    char trouble[1024]; /* the last of its stderr */
} cell_end;

/* What goes on meanwhile. */
typedef struct {
    void (*told)(void *user, const char *line); /* a line on the cell's stderr */
    void (*beat)(void *user);                   /* about once a second */
    void *user;
    double limit; /* seconds after which it is killed; 0: none */
} cell_watch;

/*
 * Runs this very program with argv until it ends. When this program is asked to stop, it passes that on. False: no
 * process could be made, complained of.
 */
bool cell_run(char *const *argv, const cell_watch *watch, cell_end *end);

#endif
