/* figures.c - see figures.h. */
#include "reproduce/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/complain.h"
#include "terminal/system.h"

enum { COLUMNS = 7 }; /* source, experiment, quantity, series, batch, value, approximate */

/* Cuts a line into its fields, in place; one in quotes may hold commas. Returns how many there are. */
static int split(char *line, char *field[COLUMNS])
{
    int n = 0;
    for (char *at = line; n < COLUMNS;) {
        const bool quoted = *at == '"';
        field[n++] = at += quoted;
        at += strcspn(at, quoted ? "\"" : ",\r\n");
        if (*at == '"')
            *at++ = '\0';
        if (*at != ',')
            break;
        *at++ = '\0';
    }
    if (n == COLUMNS)
        field[n - 1][strcspn(field[n - 1], "\r\n")] = '\0';
    return n;
}

static bool is_wanted(const figures *wanted, char *const field[COLUMNS])
{
    return strcmp(field[1], wanted->experiment) == 0 && strcmp(field[2], wanted->quantity) == 0 &&
           strcmp(field[3], wanted->series) == 0;
}

int figures_read(const figures *wanted, figure list[FIGURES_MAX])
{
    char path[2048], line[1024], *field[COLUMNS];
    FILE *f = find_companion("examples", "published.csv", path, sizeof path) ? fopen(path, "r") : NULL;
    if (!f) {
        complain(GR_BAD_DATA, "reproduce", "published.csv is not beside this program; install Gradus as a whole");
        return -1;
    }
    int n = 0;
    while (n < FIGURES_MAX && fgets(line, sizeof line, f))
        if (split(line, field) == COLUMNS && is_wanted(wanted, field))
            list[n++] = (figure){strtoll(field[4], NULL, 10), strtod(field[5], NULL), strcmp(field[6], "1") == 0};
    fclose(f);
    return n;
}
