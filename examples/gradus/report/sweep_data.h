/* sweep_data.h - a sweep's folder as the page of a report takes it: rows, means, words, published values. */
#ifndef GRADUS_SWEEP_DATA_H
#define GRADUS_SWEEP_DATA_H

#include "compare/runs.h"

/*
 * One object: "folder", "label", "recipe", "data", ...; "rows", the last one of each cell without its matrices, each
 * with "constant"; "lines", the means as summary.csv has them; "command", "caveats", "machine" in words; "published",
 * the values that belong beside it, and "context", those that do not, with "departures". A new reference. NULL:
 * complained of, with the exit code in *code.
 */
json_t *sweep_data(const runs *r, int *code);

#endif
