/* published.c - see published.h. */
#include "sweep/published.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings/resolved.h"
#include "terminal/json_values.h"
#include "terminal/system.h"

/* --- does the sweep do what was published? ------------------------------------------------------------------------ */

/* Settings that change where and how a run computes, or what it is asked on the way, and not what it learns. */
static bool is_neutral(const char *name)
{
    static const char *const names[] = {"micro-batch", "noise-scale", "sharpness",   "no-fusion",
                                        "device",      "threads",     "memory-limit"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Not given; or --epochs, in place of which there are --updates. */
static bool is_open(const json_t *value)
{
    return !value || json_is_null(value) || json_is_false(value);
}

/* "--resize 16", "--no-shuffle" */
static json_t *in_words(const char *name, const json_t *value)
{
    char text[512];
    if (json_is_string(value))
        snprintf(text, sizeof text, "--%s %s", name, json_string_value(value));
    else if (json_is_number(value))
        snprintf(text, sizeof text, "--%s %.15g", name, json_number_value(value));
    else
        snprintf(text, sizeof text, "--%s", name);
    return json_string(text);
}

static bool is_same(const json_t *x, const json_t *y)
{
    return json_is_number(x) && json_is_number(y) ? json_number_value(x) == json_number_value(y) : json_equal(x, y);
}

/* Test samples of a recipe that says how it splits; 0: its data set brings its own parts. */
static int64_t test_samples(const recipe *r)
{
    enum { CLASSES = 2 }; /* of every recipe that splits by class */
    return CLASSES * r->split.test;
}

json_t *published_departures(const json_t *identity, const recipe *r)
{
    const settings nothing = {0}, plain = settings_shared(&nothing, r);
    json_t *usual = json_object(), *departures = json_array(), *value;
    const json_int_t samples = json_integer_value(json_object_get(identity, "test_samples"));
    const char *name;
    options_json(settings_protocol, &plain, usual);
    options_json(parameter_options(), plain.parameters, usual);
    json_object_foreach(usual, name, value)
    {
        const json_t *here = json_object_get(identity, name);
        if (!is_neutral(name) && !is_open(here) && !is_same(value, here))
            json_array_append_new(departures, in_words(name, here));
    }
    if (strcmp(text_at(identity, "data"), "procedural") == 0)
        json_array_append_new(departures, json_string("--procedural"));
    else if (samples && test_samples(r) && samples != test_samples(r))
        json_array_append_new(departures, json_string("another number of test samples"));
    json_decref(usual);
    return departures;
}

/* --- what was published ------------------------------------------------------------------------------------------- */

enum { SOURCE, EXPERIMENT, QUANTITY, SERIES, BATCH, VALUE, APPROXIMATE, FIELDS };

/* The accuracies that belong to a recipe. */
static const struct {
    const char *recipe, *experiment, *quantity;
} experiments[] = {{"cats-vs-dogs", "cats-vs-dogs optimizers", "test_accuracy_percent"},
                   {"cifar10-cnn", "thesis", "accuracy_after_10_epochs_percent"}};

/* Cuts a line of comma-separated values at its commas, in place; quotes hold a field together. Returns how many. */
static int split(char *line, char *fields[FIELDS])
{
    int n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at && n < FIELDS;) {
        const bool quoted = *at == '"';
        char *end = strpbrk(at + quoted, quoted ? "\"" : ",");
        fields[n++] = at + quoted;
        if (end && quoted) {
            *end++ = '\0';
            end = *end == ',' ? end : NULL;
        }
        at = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
    }
    return n;
}

static bool is_of(const recipe *r, char *const *fields, bool *rerun)
{
    char keras[64];
    snprintf(keras, sizeof keras, "keras %s", r->name);
    *rerun = strcmp(fields[EXPERIMENT], keras) == 0;
    for (size_t i = 0; i < sizeof experiments / sizeof *experiments; i++)
        if (strcmp(experiments[i].recipe, r->name) == 0 && strcmp(experiments[i].experiment, fields[EXPERIMENT]) == 0)
            return strcmp(experiments[i].quantity, fields[QUANTITY]) == 0;
    return *rerun;
}

json_t *published_values(const recipe *r)
{
    json_t *values = json_array();
    char path[3072], line[1024], *fields[FIELDS];
    FILE *f = find_companion("examples", "published.csv", path, sizeof path) ? fopen(path, "r") : NULL;
    while (f && fgets(line, sizeof line, f)) {
        bool rerun;
        if (split(line, fields) == FIELDS && is_of(r, fields, &rerun))
            json_array_append_new(values, json_pack("{s:s, s:s, s:I, s:f, s:b, s:b}", "source", fields[SOURCE],
                                                    "series", fields[SERIES], "batch", (json_int_t)atoll(fields[BATCH]),
                                                    "value", atof(fields[VALUE]), "approximate",
                                                    *fields[APPROXIMATE] == '1', "rerun", rerun));
    }
    if (f)
        fclose(f);
    return values;
}
