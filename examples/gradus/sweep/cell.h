/* cell.h - cells of a sweep in processes of their own: what one eats or breaks is gone with it. */
#ifndef GRADUS_CELL_H
#define GRADUS_CELL_H

#include <sys/types.h>

#include "terminal/complain.h"

enum { MOST_CELLS = 64 }; /* at work at a time */

typedef struct {
    int code;           /* exit code; 0 with signal */
    int signal;         /* that killed it; 0: none */
    bool timed_out;     /* it was killed for taking too long */
    bool lost;          /* there was no memory here for all that it told */
    double seconds;     /* from start to end */
    char *result;       /* the last line on its stdout, allocated; NULL: none */
    char trouble[1024]; /* the last of its stderr */
} cell_end;

/* What comes through one pipe, cut into lines. */
typedef struct {
    char *text; /* the line begun */
    size_t length, size;
} cell_lines;

/* A process, from its start until cell_reap; of its fields pid alone is of interest elsewhere. */
typedef struct {
    pid_t pid;
    int out, err; /* ends of pipes; -1: closed */
    cell_lines out_lines, err_lines;
    cell_end end;
    void (*told)(void *user, const char *line); /* a line on the cell's stderr */
    void *user;
    double begin, limit; /* seconds on the clock, and after which it is killed; 0: none */
    bool asked_to_stop;
} cell_process;

/*
 * Starts this very program with argv; told, user and limit are set already. False: no process could be made,
 * complained of.
 */
bool cell_start(cell_process *p, char *const *argv);

/* Asks a process to stop; it keeps its state before it ends. */
void cell_stop(cell_process *p);

/*
 * Waits about a second at most for something to happen in any of n processes, and takes it in. When this program is
 * asked to stop, it passes that on. Returns the place of one that is over, to be reaped; -1: none is.
 */
int cells_listen(cell_process *const *list, int n);

/* The end of a process that is over; its result is the caller's to free. */
cell_end cell_reap(cell_process *p);

#endif
