/* sweep_data.c - see sweep_data.h. */
#include "report/sweep_data.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "report/words.h"
#include "sweep/folder.h"
#include "sweep/published.h"
#include "terminal/json_values.h"

/* A row as the page needs it: the largest parts, which it does not draw, are left out. */
static json_t *page_row(const json_t *row)
{
    static const char *const unused[] = {"val_confusion", "test_confusion", "time", "sweep", "check"};
    json_t *copy = json_copy((json_t *)row);
    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++)
        json_object_del(copy, unused[i]);
    json_object_set_new(copy, "constant", json_boolean(runs_is_constant(row)));
    return copy;
}

static json_t *page_rows(const runs *r)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(r->journal.rows); i++)
        if (runs_counts(r, i))
            json_array_append_new(rows, page_row(json_array_get(r->journal.rows, i)));
    return rows;
}

/* The samples of a class, as a row of a confusion matrix counts them. */
static double samples_of(const json_t *answers)
{
    double sum = 0;
    size_t i;
    const json_t *n;
    json_array_foreach(answers, i, n) sum += json_number_value(n);
    return sum;
}

/* The accuracy of who always answers with the class that most test samples have; null: no row tells of them. */
static json_t *chance(const runs *r)
{
    for (size_t i = 0; i < json_array_size(r->journal.rows); i++) {
        const json_t *confusion = json_object_get(json_array_get(r->journal.rows, i), "test_confusion"), *answers;
        double most = 0, all = 0;
        size_t c;
        json_array_foreach(confusion, c, answers)
        {
            most = fmax(most, samples_of(answers));
            all += samples_of(answers);
        }
        if (all > 0)
            return json_real(most / all);
    }
    return json_null();
}

static json_t *sentences(const char *const *lines)
{
    json_t *list = json_array();
    for (; *lines; lines++)
        json_array_append_new(list, json_string(*lines));
    return list;
}

/* How the optimizers of the grid are called and coloured in pictures. */
static json_t *looks(const grid *g)
{
    json_t *o = json_object();
    for (int i = 0; i < g->optimizers.n; i++) {
        const optimizer *one = g->optimizers.list[i];
        json_object_set_new(o, one->name, json_pack("{s:s, s:s}", "label", one->label, "colour", one->colour));
    }
    return o;
}

/* The optimizer of the grid that a published value is of; NULL: of none, or of one that is not named. */
static const optimizer *optimizer_of(const json_t *value, const grid *g)
{
    for (int i = 0; i < g->optimizers.n; i++)
        if (strcasecmp(text_at(value, "series"), g->optimizers.list[i]->name) == 0)
            return g->optimizers.list[i];
    return NULL;
}

/* Whether a run of that optimizer and of the value's batch size is done. */
static bool has_cell(const json_t *value, const optimizer *one, const outcome *t)
{
    for (int i = 0; i < t->n; i++)
        if (t->lines[i].done > 0 && strcmp(t->lines[i].optimizer, one->name) == 0 &&
            t->lines[i].batch == json_integer_value(json_object_get(value, "batch")))
            return true;
    return false;
}

/* Published values are drawn where the sweep departs in nothing and has such runs; others are named as context. */
static void put_published(json_t *o, const runs *r, const grid *g, const outcome *t, const json_t *values)
{
    json_t *departures = published_departures(r->identity, t->recipe);
    json_t *drawn = json_array(), *context = json_array(), *value;
    size_t i;
    json_array_foreach(values, i, value)
    {
        const optimizer *one = optimizer_of(value, g);
        const bool matches = one && has_cell(value, one, t) && json_array_size(departures) == 0;
        if (one)
            json_object_set_new(value, "optimizer", json_string(one->name));
        if (matches || !json_is_true(json_object_get(value, "rerun")))
            json_array_append(matches ? drawn : context, value);
    }
    json_object_set_new(o, "published", drawn);
    json_object_set_new(o, "context", context);
    json_object_set_new(o, "departures", departures);
}

static json_t *assemble(const runs *r, const grid *g, const outcome *t)
{
    json_t *o = json_object(), *summary = outcome_json(t);
    json_object_set_new(o, "folder", text_json(r->folder));
    json_object_set_new(o, "label", text_json(r->label));
    json_object_set_new(o, "recipe", json_string(t->recipe->name));
    json_object_set_new(o, "title", json_string(t->recipe->title));
    json_object_set_new(o, "source", json_string(t->recipe->source));
    json_object_set(o, "protocol", r->identity);
    json_object_set_new(o, "chance", chance(r));
    json_object_set_new(o, "looks", looks(g));
    json_object_update(o, summary); /* data, test_samples, lines */
    json_object_set_new(o, "rows", page_rows(r));
    json_object_set_new(o, "command", command_words(r, g, t->recipe));
    json_object_set_new(o, "caveats", accuracy_caveats(r, t));
    json_object_set_new(o, "machine", machine_caveats(r));
    json_object_set_new(o, "oddities", sentences(t->recipe->oddities));
    json_decref(summary);
    return o;
}

json_t *sweep_data(const runs *r, int *code)
{
    axes lists = {0};
    grid g;
    outcome t = {.recipe = recipe_find(text_at(r->identity, "recipe"), "report"),
                 .data = text_at(r->identity, "data"),
                 .test_samples = json_integer_value(json_object_get(r->identity, "test_samples"))};
    *code = !t.recipe ? GR_BAD_DATA : folder_grid(&r->journal, "report", &lists, &g);
    if (*code == 0 && grid_count(&g) == 0)
        *code = complain(GR_BAD_DATA, "report", "%s has no rows yet: there is nothing to report", r->folder);
    if (*code)
        return NULL;
    if (!outcome_fill(&t, &g, &r->journal)) {
        *code = complain(GR_NO_MEMORY, "report", "out of host memory for the means");
        return NULL;
    }
    json_t *values = published_values(t.recipe, "report", code), *o = NULL;
    if (values) {
        o = assemble(r, &g, &t);
        put_published(o, r, &g, &t, values);
    }
    json_decref(values);
    outcome_free(&t);
    if (o && !json_object_get(o, "command")) { /* written to a stream in memory that there was none for */
        *code = complain(GR_NO_MEMORY, "report", "out of host memory for a command in words");
        json_decref(o);
        o = NULL;
    }
    return o;
}
