/* outcome.c - see outcome.h. */
#include "sweep/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/json_values.h"
#include "terminal/text.h"
#include "train/row.h"

/* --- drawing it up ------------------------------------------------------------------------------------------------ */

static void add_cell(outcome *t, outcome_line *line, const json_t *row)
{
    const char *state = text_at(row, "state");
    t->side_by_side += json_integer_value(json_object_get(row, SIDE_BY_SIDE)) > 1;
    line->runs++;
    line->out_of_memory += strcmp(state, "out of memory") == 0;
    line->went_bad += strcmp(state, "numbers went bad") == 0;
    line->timed_out += strcmp(state, "timed out") == 0;
    line->failed += strcmp(state, "failed") == 0;
    if (strcmp(state, "done") != 0)
        return;
    line->done++;
    line->updates = json_integer_value(json_object_get(row, "updates"));
    sample_add(&line->accuracy, json_number_value(json_object_get(row, "test_accuracy")));
    sample_add(&line->rate, json_number_value(json_object_get(row, "samples_per_second")));
    sample_add(&line->peak, json_number_value(json_object_get(row, "peak_bytes")));
}

bool outcome_fill(outcome *t, const grid *g, const journal *j)
{
    t->n = grid_lines(g);
    t->lines = calloc((size_t)t->n, sizeof *t->lines);
    if (!t->lines)
        return false;
    for (int i = 0; i < grid_count(g); i++) {
        cell c = grid_cell(g, i);
        outcome_line *line = &t->lines[i % t->n];
        line->optimizer = c.optimizer->name;
        line->batch = c.batch;
        cell_variant(&c, line->variant);
        json_t *row = journal_find(j, &c);
        if (row)
            add_cell(t, line, row);
    }
    for (int i = 0; i < t->n; i++) {
        sample *accuracy = &t->lines[i].accuracy;
        accuracy->mean = round(1e12 * accuracy->mean) / 1e12; /* last bits would make 78.35 78.4 here, 78.3 elsewhere */
        t->lines[i].set_error = share_error(accuracy->mean, (double)t->test_samples);
    }
    return true;
}

void outcome_free(outcome *t)
{
    free(t->lines);
    t->lines = NULL;
}

/* --- for people --------------------------------------------------------------------------------------------------- */

/* What became of the cells that are not done: "1 out of memory, 2 failed". */
static const char *troubles(const outcome_line *line, char text[96])
{
    const struct {
        int n;
        const char *what;
    } kinds[] = {{line->out_of_memory, "out of memory"},
                 {line->went_bad, "numbers went bad"},
                 {line->timed_out, "timed out"},
                 {line->failed, "failed"}};
    int length = 0;
    text[0] = '\0';
    for (int i = 0; i < 4; i++)
        if (kinds[i].n > 0)
            length +=
                snprintf(text + length, 96 - (size_t)length, "%s%d %s", length ? ", " : "", kinds[i].n, kinds[i].what);
    return text;
}

static void print_line(const outcome_line *line, FILE *f)
{
    char half[32] = "", peak[32], trouble[96];
    troubles(line, trouble);
    fprintf(f, "%-10s %6lld", line->optimizer, (long long)line->batch);
    if (line->done == 0) {
        fprintf(f, "        -    -  %s\n", *trouble ? trouble : "not run");
        return;
    }
    if (line->done > 1)
        snprintf(half, sizeof half, "+- %.1f", 100 * sample_half_width(&line->accuracy));
    fprintf(f, " %8lld %4d  %5.1f %-8s %9.1f %10.0f %10s\n", (long long)line->updates, line->done,
            100 * line->accuracy.mean, half, 100 * line->set_error, line->rate.mean, bytes_text(line->peak.mean, peak));
    if (*trouble)
        fprintf(f, "%17s  and %s\n", "", trouble);
}

/* What all runs were given. */
static void print_given(const outcome *t, FILE *f)
{
    char note[512];
    const bool timed = t->budget && strncmp(t->budget, "seconds=", strlen("seconds=")) == 0;
    if (t->budget) {
        snprintf(note, sizeof note, "every run had --budget %s%s", t->budget,
                 timed ? " of training: how many updates that makes depends on the machine and the moment, and no run "
                         "can be repeated to its bits"
                       : "");
        fprintf(f, "  - ");
        print_wrapped(f, note, 4, 4);
    }
    if (t->batch_schedule) {
        snprintf(note, sizeof note, "the batch grows by --batch-schedule %s; the table has its first size",
                 t->batch_schedule);
        fprintf(f, "  - ");
        print_wrapped(f, note, 4, 4);
    }
}

void outcome_print(const outcome *t, FILE *f)
{
    char note[256];
    fprintf(f, "%s on ", t->recipe->name);
    print_plain(f, strcmp(t->data, "procedural") == 0 ? "built-in procedural pictures, not the real data" : t->data);
    fputs("\n\n", f);
    fprintf(f, "optimizer   batch  updates runs  test accuracy  set error  samples/s     memory\n");
    for (int i = 0; i < t->n; i++) {
        if (*t->lines[i].variant && (i == 0 || strcmp(t->lines[i].variant, t->lines[i - 1].variant) != 0))
            fprintf(f, "%s%s\n", i ? "\n" : "", t->lines[i].variant);
        print_line(&t->lines[i], f);
    }
    snprintf(note, sizeof note,
             "set error: standard error in points that comes from the test set's size alone (%lld samples)",
             (long long)t->test_samples);
    fputc('\n', f);
    print_wrapped(f,
                  "test accuracy: mean over the runs (seeds) in %, +- the 95 % interval of that mean (Student's t); "
                  "memory: its peak",
                  0, 0);
    print_wrapped(f, note, 0, 0);
    snprintf(note, sizeof note,
             "samples/s: %d run%s had others at work beside %s (--jobs): not the speed of a run alone", t->side_by_side,
             t->side_by_side == 1 ? "" : "s", t->side_by_side == 1 ? "it" : "them");
    if (t->side_by_side)
        print_wrapped(f, note, 0, 0);
    fprintf(f, "\nTo keep in mind\n");
    print_given(t, f);
    recipe_print_oddities(t->recipe, t->by_epochs, f);
}

/* --- for machines ------------------------------------------------------------------------------------------------- */

static json_t *line_json(const outcome_line *line)
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
    json_object_set_new(o, "timed_out", json_integer(line->timed_out));
    json_object_set_new(o, "failed", json_integer(line->failed));
    json_object_set_new(o, "test_accuracy", json_real_or_null(any ? line->accuracy.mean : NAN));
    json_object_set_new(o, "half_width_95", json_real_or_null(sample_half_width(&line->accuracy)));
    json_object_set_new(o, "set_error", json_real_or_null(any ? line->set_error : NAN));
    json_object_set_new(o, "samples_per_second", json_real_or_null(any ? line->rate.mean : NAN));
    json_object_set_new(o, "peak_bytes", any ? json_integer((json_int_t)line->peak.mean) : json_null());
    if (*line->variant)
        json_object_set_new(o, "variant", json_string(line->variant));
    return o;
}

json_t *outcome_json(const outcome *t)
{
    json_t *lines = json_array();
    for (int i = 0; i < t->n; i++)
        json_array_append_new(lines, line_json(&t->lines[i]));
    return json_pack("{s:s, s:o, s:I, s:o}", "recipe", t->recipe->name, "data", json_plain(t->data), "test_samples",
                     (json_int_t)t->test_samples, "lines", lines);
}

void outcome_print_json(const outcome *t, FILE *f)
{
    json_t *o = outcome_json(t);
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

void outcome_write_csv(const outcome *t, FILE *f)
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

static bool any_has(const journal *j, const char *key)
{
    for (size_t i = 0; i < json_array_size(j->rows); i++)
        if (json_object_get(json_array_get(j->rows, i), key))
            return true;
    return false;
}

void cells_write_csv(const grid *g, const journal *j, FILE *f)
{
    json_t *columns = row_columns(), *key;
    size_t k;
    if (g->axes->n)
        json_array_append_new(columns, json_string("variant"));
    if (any_has(j, SIDE_BY_SIDE))
        json_array_append_new(columns, json_string(SIDE_BY_SIDE));
    json_array_foreach(columns, k, key)
    {
        fprintf(f, "%s%s", k ? "," : "", json_string_value(key));
    }
    fputc('\n', f);
    for (int i = 0; i < grid_count(g); i++) {
        cell c = grid_cell(g, i);
        json_t *row = journal_find(j, &c);
        if (!row)
            continue;
        json_array_foreach(columns, k, key)
        {
            write_field(f, json_object_get(row, json_string_value(key)), k == 0);
        }
        fputc('\n', f);
    }
    json_decref(columns);
}
