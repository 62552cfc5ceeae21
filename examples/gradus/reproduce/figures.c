/* figures.c - see figures.h. */
#include "reproduce/figures.h"

#include <string.h>

#include "sweep/published.h"

static bool is_wanted(const figures *wanted, const published_line *line)
{
    return strcmp(line->experiment, wanted->experiment) == 0 && strcmp(line->quantity, wanted->quantity) == 0 &&
           strcmp(line->series, wanted->series) == 0;
}

int figures_read(const figures *wanted, figure list[FIGURES_MAX])
{
    int n = 0, code = 0;
    FILE *f = published_open("reproduce", &code);
    published_line line;
    while (f && n < FIGURES_MAX && published_next(f, &line))
        if (is_wanted(wanted, &line))
            list[n++] = (figure){line.batch, line.value, line.approximate};
    return f && published_close(f, "reproduce") == 0 ? n : -1;
}
