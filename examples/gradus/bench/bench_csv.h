/* bench_csv.h - rows of gradus bench as a table for other programs. */
#ifndef GRADUS_BENCH_CSV_H
#define GRADUS_BENCH_CSV_H

#include <jansson.h>

/* Writes rows into a file, whole or not at all: a column for each key whose values are no lists. 0 or an exit code. */
int bench_csv_write(const json_t *rows, const char *path);

#endif
