/*
 * progress.h - what a person sees on stderr while a program works: one line that is redrawn on a terminal, plain lines
 * elsewhere (a file, a pipe, TERM=dumb). NO_COLOR turns colours off.
 */
#ifndef GRADUS_PROGRESS_H
#define GRADUS_PROGRESS_H

#include "gradus.h"

typedef struct {
    bool terminal, colour;
    int width;          /* columns */
    bool line_open;     /* a redrawn line stands there */
    double last_draw;   /* seconds */
    double watch_every; /* seconds after which something else will be shown: no need to read it more often */
    double limit;       /* of a training run that ends by seconds; 0: it does not */
} progress;

progress progress_open(void);

/*
 * Redraws the open line, at most 10 times a second unless it is the last: a bar filled to share (0..1) between two
 * texts.
 */
void progress_bar(progress *p, const char *left, double share, const char *right);

/* A line that stays. */
void progress_line(progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* True at most every so many seconds: elsewhere than on a terminal, the moment for another line. */
bool progress_due(progress *p, double seconds);

/* Takes the open line away. */
void progress_clear(progress *p);

/* Progress of a training run, to be called with every report of gr_fit. */
void progress_fit(progress *p, const gr_progress *report);

#endif
