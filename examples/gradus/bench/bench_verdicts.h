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

/* Prints the table, or with json a line for each; names of both sides for the heading. Returns 0 or an exit code. */
int verdicts_print(const bench_compared *list, int n, bool json);

/* What keys of two rows tell of where they were measured, where they differ: "commit: a, then b" lines. */
void verdicts_tell_apart(const json_t *before, const json_t *after);

#endif
