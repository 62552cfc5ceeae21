/*
 * time_table.h - where the time of an update goes: by operation and pass, from the trace, with what is left named, so
 * that the lines add up to the whole.
 */
#ifndef GRADUS_TIME_TABLE_H
#define GRADUS_TIME_TABLE_H

#include <jansson.h>

#include "terminal/tool.h"

typedef struct time_table time_table;

/*
 * Hooks into the trace of ctx. NULL: out of memory, complained of. Free with time_table_close when no more kernel runs.
 */
time_table *time_table_open(gr_context *ctx, const char *command);
void time_table_close(time_table *t); /* NULL is fine */

/*
 * An update begins: all that happens from here to the end belongs to it. It counts unless it was something else
 * (evaluation) or the first one, which warms up. NULL is fine.
 */
void time_table_begin(time_table *t);
void time_table_end(time_table *t, bool counts);

void time_table_print(const time_table *t, FILE *f);

/* {"updates", "ms", "operations": [{"op", "pass", "calls", "ms", "share", "gflops"}], "loader_ms", "host_ms"}. */
json_t *time_table_json(const time_table *t);

#endif
