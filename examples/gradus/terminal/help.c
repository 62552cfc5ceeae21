/* help.c - see help.h. */
#include "terminal/help.h"

#include <stdio.h>
#include <string.h>

#include "terminal/text.h"

enum { HELP_COLUMN = 25 };

/* The lines of usage, each behind "Usage:" or blanks. */
static void print_usage(const char *text)
{
    for (const char *prefix = "Usage: "; *text; prefix = "       ") {
        int length = (int)strcspn(text, "\n");
        printf("%sgradus %.*s\n", prefix, length, text);
        text += length + (text[length] == '\n');
    }
}

static void print_examples(const char *text)
{
    while (*text) {
        char line[256];
        int length = (int)strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", length, text);
        print_command(stdout, line, 2);
        text += length + (text[length] == '\n');
    }
}

static void print_option(const option *o)
{
    char left[64];
    int length =
        snprintf(left, sizeof left, "  --%s%s%s", o->name, o->metavar ? " " : "", o->metavar ? o->metavar : "");
    printf("%s", left);
    if (length >= HELP_COLUMN - 1)
        printf("\n%*s", HELP_COLUMN, "");
    else
        printf("%*s", HELP_COLUMN - length, "");
    print_wrapped(stdout, o->help, HELP_COLUMN, HELP_COLUMN);
}

void help_print(const gradus_command *c)
{
    print_usage(c->usage);
    putchar('\n');
    print_wrapped(stdout, c->about, 0, 0);
    for (const option_group *g = c->groups; g->title; g++) {
        printf("\n%s\n", g->title);
        for (const option *o = options_of(g); o->name; o++)
            print_option(o);
    }
    printf("\nExamples\n");
    print_examples(c->examples);
}
