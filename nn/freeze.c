/* freeze.c - parameters and running statistics that training leaves as they are, by their names. */
#include <fnmatch.h>
#include <stdio.h>
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

/* Freezes what one pattern matches; false: it is nothing. A layer's mean and variance stand side by side: in pairs. */
static bool freeze_matches(gr_parameters *list, const char *pattern, bool in_pairs)
{
    bool any = false;
    for (int i = 0; i < list->n; i++) {
        const bool match = fnmatch(pattern, list->plans[i].name, 0) == 0 ||
                           (in_pairs && fnmatch(pattern, list->plans[i ^ 1].name, 0) == 0);
        any |= match;
        if (match)
            gr__slab_freeze(list->slab, i);
    }
    return any;
}

int gr_module_freeze(gr_module *net, const char *patterns)
{
    static const char what[] = "gr_module_freeze";
    if (!is_ready(net, patterns, what))
        return -1;
    gr_parameters *list = net->parameters;
    char pattern[96];
    while (*patterns) {
        const char *at = patterns;
        if (!next_pattern(&patterns, pattern) || !freeze_matches(list, pattern, false)) {
            no_match(net->ctx, what, at, list);
            return -1;
        }
    }
    return count_frozen(list);
}

int gr_module_freeze_statistics(gr_module *net, const char *patterns)
{
    static const char what[] = "gr_module_freeze_statistics";
    if (!is_ready(net, patterns, what))
        return -1;
    gr_parameters *list = net->parameters->statistics;
    const char *at = patterns;
    char pattern[96];
    bool any = false;
    while (next_pattern(&at, pattern))
        any |= freeze_matches(list, pattern, true);
    if (!any) {
        no_match(net->ctx, what, patterns, list);
        return -1;
    }
    return count_frozen(list) / 2;
}

bool gr_parameter_frozen(const gr_module *net, int i)
{
    return i >= 0 && i < gr_parameter_count(net) && net->parameters->slab->segments[i].frozen;
}
