/* bench_verdicts.h - cases before and after, decided together and told. */
#ifndef GRADUS_BENCH_VERDICTS_H
#define GRADUS_BENCH_VERDICTS_H

#include <stdbool.h>

#include <jansson.h>

#include "bench/bench_judge.h"

/* A pass of a case, twice. */
typedef struct {
    const json_t *row;    /* that names it; not owned */
    double before, after; /* seconds */
    int rounds[2];        /* that each side had */
    bench_verdict verdict;
} bench_compared;

/* What both sides are called, in at most 7 letters. */
typedef struct {
    const char *before, *after;
} verdict_sides;
extern const verdict_sides two_builds; /* "before", "after" */

/* Prints the table, or with json a line for each. Returns 0 or an exit code. */
int verdicts_print(const bench_compared *list, int n, const verdict_sides *sides, bool json);

/* What keys of two rows tell of where they were measured, where they differ: "commit: a, then b" lines. */
void verdicts_tell_apart(const json_t *before, const json_t *after);

#endif
