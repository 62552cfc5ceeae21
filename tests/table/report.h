/*
 * report.h - what the table has found so far.
 */
#ifndef GRADUS_TABLE_REPORT_H
#define GRADUS_TABLE_REPORT_H

#include "tests/table/row.h"

/* Counts a failure and prints "FAIL device: row: what", the first few of each row. */
void report_failure(const row *r, const char *device, const char *format, ...) __attribute__((format(printf, 3, 4)));

int report_failures(void);

#endif
