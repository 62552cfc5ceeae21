/* published.c - see published.h. */
#include "sweep/published.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "settings/resolved.h"
#include "terminal/complain.h"
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
    options_json(settings_batches, &plain, usual);
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

enum { COLUMNS = 7 }; /* source, experiment, quantity, series, batch, value, approximate */

FILE *published_open(const char *command, int *code)
{
    char path[2048];
    FILE *f = NULL;
    if (!find_companion("examples", "published.csv", path, sizeof path))
        *code = complain(GR_BAD_DATA, command, "published.csv is not beside this program; install Gradus as a whole");
    else if (!(f = fopen(path, "r")))
        *code = complain_of_file(path, "cannot be read", command);
    return f;
}

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

bool published_next(FILE *f, published_line *line)
{
    char *field[COLUMNS];
    while (fgets(line->text, sizeof line->text, f))
        if (split(line->text, field) == COLUMNS) {
            line->source = field[0];
            line->experiment = field[1];
            line->quantity = field[2];
            line->series = field[3];
            line->batch = strtoll(field[4], NULL, 10);
            line->value = strtod(field[5], NULL);
            line->approximate = strcmp(field[6], "1") == 0;
            return true;
        }
    return false;
}

int published_close(FILE *f, const char *command)
{
    const bool bad = ferror(f);
    fclose(f);
    return bad ? complain(GR_IO_ERROR, command, "published.csv could not be read to its end") : 0;
}

/* --- what belongs to a recipe ------------------------------------------------------------------------------------- */

static const struct {
    const char *recipe, *experiment, *quantity;
} experiments[] = {{"cats-vs-dogs", "cats-vs-dogs optimizers", "test_accuracy_percent"},
                   {"cifar10-cnn", "thesis", "accuracy_after_10_epochs_percent"}};
enum { EXPERIMENTS = sizeof experiments / sizeof *experiments };

static json_t *value_json(const published_line *line, bool rerun)
{
    return json_pack("{s:s, s:s, s:I, s:f, s:b, s:b}", "source", line->source, "series", line->series, "batch",
                     (json_int_t)line->batch, "value", line->value, "approximate", line->approximate, "rerun", rerun);
}

json_t *published_values(const recipe *r, const char *command, int *code)
{
    int i = 0;
    while (i < EXPERIMENTS && strcmp(experiments[i].recipe, r->name) != 0)
        i++;
    if (i == EXPERIMENTS)
        return json_array();
    FILE *f = published_open(command, code);
    published_line line;
    char rerun[64];
    json_t *values = json_array();
    snprintf(rerun, sizeof rerun, "keras %s", r->name);
    while (f && published_next(f, &line)) {
        const bool again = strcmp(line.experiment, rerun) == 0;
        const bool first = strcmp(line.experiment, experiments[i].experiment) == 0 &&
                           strcmp(line.quantity, experiments[i].quantity) == 0;
        if (again || first)
            json_array_append_new(values, value_json(&line, again));
    }
    if (f)
        *code = published_close(f, command);
    if (*code == 0)
        return values;
    json_decref(values);
    return NULL;
}
