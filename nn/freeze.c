/* freeze.c - parameters and running statistics that training leaves as they are, by their names. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/module.h"

/* The pattern that *text begins with, which moves behind it. False: there is none left, or one too long to be a name's.
 */
static bool next_pattern(const char **text, char pattern[96])
{
    const size_t length = strcspn(*text, ",");
    if (length == 0 || length >= 96)
        return false;
    memcpy(pattern, *text, length);
    pattern[length] = '\0';
    *text += length + ((*text)[length] == ',');
    return true;
}

/* Names into text, as many as there is room for. */
static const char *names_of(const gr_parameters *list, char text[512])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < list->n; i++) {
        const char *name = list->plans[i].name;
        if (used + strlen(name) + sizeof ", ..." > 512) {
            strcpy(text + used, ", ...");
            break;
        }
        used += (size_t)sprintf(text + used, "%s%s", i ? ", " : "", name);
    }
    return text;
}

static bool no_match(gr_context *ctx, const char *what, const char *pattern, const gr_parameters *list)
{
    char names[512];
    return gr__fail(ctx, GR_USAGE, "%s: no name matches \"%.95s\"; there %s %s", what, pattern,
                    list->n ? "are" : "is none at all", names_of(list, names));
}

static bool is_ready(const gr_module *net, const char *patterns, const char *what)
{
    if (!net || !gr_ok(net->ctx))
        return false;
    if (gr_parameter_count(net) == 0)
        return gr__fail(net->ctx, GR_USAGE, "%s: the model is not built yet; call gr_module_build first", what);
    if (!patterns || !*patterns)
        return gr__fail(net->ctx, GR_USAGE, "%s: no pattern; \"layer1.*,conv1.*\" is two", what);
    return true;
}

static bool is_untrained(const gr_module *net, const char *what)
{
    return !net->parameters->slab->gradients ||
           gr__fail(net->ctx, GR_USAGE, "%s: the model has been trained already; freeze before its first backward pass",
                    what);
}

static int count_frozen(const gr_parameters *list)
{
    int n = 0;
    for (int i = 0; i < list->n; i++)
        n += list->slab->segments[i].frozen;
    return n;
}

/* Marks what one pattern matches; false: it is nothing. A layer's mean and variance stand side by side: in pairs. */
static bool mark_matches(const gr_parameters *list, const char *pattern, bool in_pairs, bool *marks)
{
    bool any = false;
    for (int i = 0; i < list->n; i++) {
        const bool match = fnmatch(pattern, list->plans[i].name, 0) == 0 ||
                           (in_pairs && fnmatch(pattern, list->plans[i ^ 1].name, 0) == 0);
        any |= match;
        marks[i] |= match;
    }
    return any;
}

bool gr__mark_parameters(const gr_module *net, const char *what, const char *patterns, bool *marks)
{
    if (!is_ready(net, patterns, what))
        return false;
    char pattern[96];
    while (*patterns) {
        const char *at = patterns;
        if (!next_pattern(&patterns, pattern) || !mark_matches(net->parameters, pattern, false, marks))
            return no_match(net->ctx, what, at, net->parameters);
    }
    return true;
}

/* Of running statistics: a pattern may be about parameters alone, but not all of them. */
static bool mark_statistics(const gr_module *net, const char *what, const char *patterns, bool *marks)
{
    if (!is_ready(net, patterns, what))
        return false;
    const gr_parameters *list = net->parameters->statistics;
    const char *at = patterns;
    char pattern[96];
    bool any = false;
    while (next_pattern(&at, pattern))
        any |= mark_matches(list, pattern, true, marks);
    return any || no_match(net->ctx, what, patterns, list);
}

/* Freezes what mark marks in the list. Returns how many are frozen now; -1: recorded. */
static int freeze(gr_module *net, bool of_statistics, const char *what, const char *patterns,
                  bool (*mark)(const gr_module *, const char *, const char *, bool *))
{
    gr_parameters *all = net ? net->parameters : NULL, *list = all && of_statistics ? all->statistics : all;
    bool *marks = net ? gr__calloc(net->ctx, list ? (size_t)list->n + 1 : 1, sizeof *marks) : NULL;
    const bool good = marks && mark(net, what, patterns, marks) && is_untrained(net, what);
    for (int i = 0; good && i < list->n; i++)
        if (marks[i])
            gr__slab_freeze(list->slab, i);
    free(marks);
    return good ? count_frozen(list) : -1;
}

int gr_module_freeze(gr_module *net, const char *patterns)
{
    return freeze(net, false, "gr_module_freeze", patterns, gr__mark_parameters);
}

int gr_module_freeze_statistics(gr_module *net, const char *patterns)
{
    const int n = freeze(net, true, "gr_module_freeze_statistics", patterns, mark_statistics);
    return n < 0 ? n : n / 2; /* mean and variance of a layer */
}

bool gr_parameter_frozen(const gr_module *net, int i)
{
    return i >= 0 && i < gr_parameter_count(net) && net->parameters->slab->segments[i].frozen;
}
