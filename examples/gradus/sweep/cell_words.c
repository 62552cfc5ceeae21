/* cell_words.c - see cell_words.h. */
#include "sweep/cell_words.h"

#include <stdlib.h>
#include <string.h>

/* As many words as a cell's command line can have, with the NULL behind them. */
static int most_words(void)
{
    const option *const tables[] = {settings_cell(),  settings_batches, settings_protocol,   parameter_options(),
                                    settings_machine, settings_usage,   settings_checkpoints};
    int words = 5; /* gradus train RECIPE --json, and the end */
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const option *o = tables[i]; o->name; o++)
            words += 2;
    return words;
}

void cell_words_free(char **argv)
{
    for (char **a = argv; a && *a; a++)
        free(*a);
    free(argv);
}

char **cell_words_make(const recipe *r, const settings *s)
{
    const char *first[] = {"gradus", "train", r->name, "--json"};
    const int most = most_words();
    char **argv = calloc((size_t)most, sizeof *argv);
    int argc = 0;
    bool good = argv != NULL;
    for (; good && argc < 4; argc++)
        good = (argv[argc] = strdup(first[argc])) != NULL;
    good = good && options_unparse(settings_cell(), s, argv, &argc, most) &&
           options_unparse(settings_batches, s, argv, &argc, most) &&
           options_unparse(settings_protocol, s, argv, &argc, most) &&
           options_unparse(parameter_options(), s->parameters, argv, &argc, most) &&
           options_unparse(settings_machine, s, argv, &argc, most) &&
           options_unparse(settings_usage, s, argv, &argc, most) &&
           options_unparse(settings_checkpoints, s, argv, &argc, most);
    if (good)
        return argv;
    cell_words_free(argv);
    return NULL;
}
