/* report.c - failures, counted and printed. */
#include "tests/table/report.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINES_A_ROW = 6 };

static int failures, of_row;
static const char *last; /* the line of the row that failed last */

void report_failure(const row *r, const char *device, const char *format, ...)
{
    of_row = r->text == last ? of_row + 1 : 1;
    last = r->text;
    failures++;
    if (of_row > LINES_A_ROW)
        return;
    printf("FAIL %s: %s: ", device, r->text);
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

int report_failures(void)
{
    return failures;
}
