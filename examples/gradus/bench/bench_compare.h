/* bench_compare.h - rows of gradus bench, of two moments, against each other. */
#ifndef GRADUS_BENCH_COMPARE_H
#define GRADUS_BENCH_COMPARE_H

#include <stdbool.h>

#include <jansson.h>

/*
 * The rows of a file that gradus bench --json wrote, of one run or several, an array. NULL: complained of, and *code is
 * the exit code.
 */
json_t *bench_rows_read(const char *path, int *code);

/* Judges every case that both have, and tells. Returns 0 or an exit code, complained of. */
int bench_compare_rows(const json_t *before, const json_t *after, bool json);

#endif
