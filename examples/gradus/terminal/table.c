/* table.c - see table.h. */
#include "terminal/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/row.h"

/* --- drawing it up ------------------------------------------------------------------------------------------------ */

static void add_cell(table_line *line, const json_t *row)
{
    const char *state = row_text(row, "state");
    line->runs++;
    line->out_of_memory += strcmp(state, "out of memory") == 0;
    line->went_bad += strcmp(state, "numbers went bad") == 0;
    line->failed += strcmp(state, "failed") == 0;
    if (strcmp(state, "done") != 0)
        return;
    line->done++;
    line->updates = json_integer_value(json_object_get(row, "updates"));
    sample_add(&line->accuracy, json_number_value(json_object_get(row, "test_accuracy")));
    sample_add(&line->rate, json_number_value(json_object_get(row, "samples_per_second")));
    sample_add(&line->peak, json_number_value(json_object_get(row, "peak_bytes")));
}

table table_make(const recipe *r, const char *data, int64_t test_samples, const grid *g, const journal *j)
{
    table t = {.recipe = r, .data = data, .test_samples = test_samples, .n = g->n_optimizers * g->n_batches};
    t.lines = calloc((size_t)t.n, sizeof *t.lines);
    for (int i = 0; t.lines && i < grid_count(g); i++) {
        cell c = grid_cell(g, i);
        table_line *line = &t.lines[i % t.n];
        line->optimizer = c.optimizer;
        line->batch = c.batch;
        json_t *row = journal_find(j, &c);
        if (row)
            add_cell(line, row);
    }
    for (int i = 0; t.lines && i < t.n; i++)
        t.lines[i].set_error = share_error(t.lines[i].accuracy.mean, (double)test_samples);
    return t;
}

void table_free(table *t)
{
    free(t->lines);
    t->lines = NULL;
}

/* --- for people --------------------------------------------------------------------------------------------------- */

/* What became of the cells that are not done: "1 out of memory, 2 failed". */
static const char *troubles(const table_line *line, char text[96])
{
    const struct {
        int n;
        const char *what;
    } kinds[] = {
        {line->out_of_memory, "out of memory"}, {line->went_bad, "numbers went bad"}, {line->failed, "failed"}};
    int length = 0;
    text[0] = '\0';
    for (int i = 0; i < 3; i++)
        if (kinds[i].n > 0)
            length +=
                snprintf(text + length, 96 - (size_t)length, "%s%d %s", length ? ", " : "", kinds[i].n, kinds[i].what);
    return text;
}

static void print_line(const table_line *line, FILE *f)
{
    char half[32] = "", peak[32], trouble[96];
    troubles(line, trouble);
    fprintf(f, "%-10s %6lld", line->optimizer, (long long)line->batch);
    if (line->done == 0) {
        fprintf(f, "        -     -  %s\n", *trouble ? trouble : "not run");
        return;
    }
    if (line->done > 1)
        snprintf(half, sizeof half, "+- %.1f", 100 * sample_half_width(&line->accuracy));
    fprintf(f, " %8lld %5d  %5.1f %-8s %9.1f %11.0f %12s%s%s\n", (long long)line->updates, line->done,
            100 * line->accuracy.mean, half, 100 * line->set_error, line->rate.mean, bytes_text(line->peak.mean, peak),
            *trouble ? "  " : "", trouble);
}

void table_print(const table *t, FILE *f)
{
    fprintf(f, "%s on %s\n\n", t->recipe->name,
            strcmp(t->data, "procedural") == 0 ? "built-in procedural pictures, not the real data" : t->data);
    fprintf(f, "optimizer   batch  updates  runs  test accuracy  set error   samples/s  peak memory\n");
    for (int i = 0; i < t->n; i++)
        print_line(&t->lines[i], f);
    fprintf(f,
            "\ntest accuracy: mean over the runs (seeds) in %%, +- the 95 %% interval of that mean (Student's t)\n"
            "set error: standard error in points that comes from the test set's size alone (%lld samples)\n"
            "\nTo keep in mind\n",
            (long long)t->test_samples);
    recipe_print_oddities(t->recipe, f);
}

/* --- for machines ------------------------------------------------------------------------------------------------- */

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *line_json(const table_line *line)
{
    bool any = line->done > 0;
    json_t *o = json_object();
    json_object_set_new(o, "optimizer", json_string(line->optimizer));
    json_object_set_new(o, "batch", json_integer(line->batch));
    json_object_set_new(o, "updates", any ? json_integer(line->updates) : json_null());
    json_object_set_new(o, "runs", json_integer(line->runs));
    json_object_set_new(o, "done", json_integer(line->done));
    json_object_set_new(o, "out_of_memory", json_integer(line->out_of_memory));
    json_object_set_new(o, "numbers_went_bad", json_integer(line->went_bad));
    json_object_set_new(o, "failed", json_integer(line->failed));
    json_object_set_new(o, "test_accuracy", number(any ? line->accuracy.mean : NAN));
    json_object_set_new(o, "half_width_95", number(sample_half_width(&line->accuracy)));
    json_object_set_new(o, "set_error", number(any ? line->set_error : NAN));
    json_object_set_new(o, "samples_per_second", number(any ? line->rate.mean : NAN));
    json_object_set_new(o, "peak_bytes", any ? json_integer((json_int_t)line->peak.mean) : json_null());
    return o;
}

void table_print_json(const table *t, FILE *f)
{
    json_t *lines = json_array();
    for (int i = 0; i < t->n; i++)
        json_array_append_new(lines, line_json(&t->lines[i]));
    json_t *o = json_pack("{s:s, s:s, s:I, s:o}", "recipe", t->recipe->name, "data", t->data, "test_samples",
                          (json_int_t)t->test_samples, "lines", lines);
    json_dumpf(o, f, ROW_FORMAT);
    fputc('\n', f);
    json_decref(o);
}

/* A text as RFC 4180 has it: in quotes where it needs them, quotes within doubled. */
static void write_text(FILE *f, const char *text)
{
    const bool quoted = strpbrk(text, ",\"\r\n");
    if (quoted)
        fputc('"', f);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', f);
        fputc(*text, f);
    }
    if (quoted)
        fputc('"', f);
}

/* One field of a comma-separated line; null is empty. */
static void write_field(FILE *f, const json_t *value, bool first)
{
    if (!first)
        fputc(',', f);
    if (json_is_string(value))
        write_text(f, json_string_value(value));
    else if (value && !json_is_null(value))
        json_dumpf(value, f, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

void table_write_csv(const table *t, FILE *f)
{
    for (int i = 0; i < t->n; i++) {
        json_t *line = line_json(&t->lines[i]), *value;
        const char *key;
        bool first = true;
        json_object_foreach(line, key, value)
        {
            if (i == 0)
                fprintf(f, "%s%s", first ? "" : ",", key);
            first = false;
        }
        if (i == 0)
            fputc('\n', f);
        first = true;
        json_object_foreach(line, key, value)
        {
            write_field(f, value, first);
            first = false;
        }
        fputc('\n', f);
        json_decref(line);
    }
}

void cells_write_csv(const grid *g, const journal *j, FILE *f)
{
    for (int k = 0; row_keys[k]; k++)
        fprintf(f, "%s%s", k ? "," : "", row_keys[k]);
    fputc('\n', f);
    for (int i = 0; i < grid_count(g); i++) {
        cell c = grid_cell(g, i);
        json_t *row = journal_find(j, &c);
        for (int k = 0; row && row_keys[k]; k++)
            write_field(f, json_object_get(row, row_keys[k]), k == 0);
        if (row)
            fputc('\n', f);
    }
}
