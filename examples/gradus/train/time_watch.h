/*
 * time_watch.h - where the time of an update goes: by operation and pass, from the trace, with what is left named, so
 * that the lines add up to the whole; beside it what a typical update hides: the slowest, and the sum of all.
 */
#ifndef GRADUS_TIME_WATCH_H
#define GRADUS_TIME_WATCH_H

#include <jansson.h>

#include "gradus.h"

typedef struct time_watch time_watch;

/* NULL: out of memory, complained of. Free with time_watch_close when no more kernel runs. */
time_watch *time_watch_open(const char *command);
void time_watch_close(time_watch *t); /* NULL is fine */

/*
 * An update begins: all that happens from here to the end belongs to it. It counts unless it was something else
 * (evaluation). The first one warms up: only the slowest and the sum of all know of it. NULL is fine.
 */
void time_watch_begin(time_watch *t);
void time_watch_end(time_watch *t, bool counts);

/* An event of the trace. NULL is fine. */
void time_watch_event(time_watch *t, const gr_trace_event *e);

void time_watch_print(const time_watch *t, FILE *f);

/*
 * {"updates", "ms", "operations": [{"op", "pass", "calls", "ms", "share", "gflops"}], "loader_ms", "host_ms",
 * "slowest", "slowest_ms", "all_ms"}: the last three count the first update too, from 1 on.
 */
json_t *time_watch_json(const time_watch *t);

#endif
