/* runs.c - see runs.h. */
#include "compare/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/folder.h"
#include "terminal/json_values.h"
#include "terminal/system.h"
#include "train/row.h"

const metric metrics[] = {{"test_accuracy", 0.01, 1, "test accuracy, in points"},
                          {"val_accuracy", 0.01, 1, "validation accuracy, in points"},
                          {"train_accuracy", 0.01, 1, "accuracy on the training set, in points"},
                          {"test_loss", 1, 4, "test loss"},
                          {"val_loss", 1, 4, "validation loss"},
                          {"train_loss", 1, 4, "training loss"},
                          {"samples_per_second", 1, 1, "samples a second"},
                          {"seconds", 1, 2, "seconds of training"},
                          {"peak_bytes", 1048576, 1, "peak memory, in MiB"},
                          {"resident_bytes", 1048576, 1, "resident memory, in MiB"},
                          {"cores_busy", 1, 2, "cores busy"},
                          {"cpu_power", 1, 1, "watts of the processor"},
                          {"model_gflops", 1, 1, "GFLOP/s of the network"},
                          {"operand_gbs", 1, 1, "GB/s of operands"},
                          {"mfu", 0.01, 1, "model-FLOPs utilisation, in points"},
                          {"gpu_utilisation", 1, 1, "GPU utilisation, in %"},
                          {"gpu_memory_bytes", 1048576, 1, "GPU memory, in MiB"},
                          {"gpu_power", 1, 1, "watts of the GPU"},
                          {"updates", 1, 1, "updates"},
                          {NULL, 0, 0, NULL}};

/* The last part of a path, without slashes behind it; of "." and ".." that of the folder they stand for. */
static void last_part(const char *path, char text[RUNS_LABEL])
{
    const size_t end = path_length(path);
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    snprintf(text, RUNS_LABEL, "%.*s", (int)(end - begin), path + begin);
    char *whole = strcmp(text, ".") == 0 || strcmp(text, "..") == 0 ? realpath(path, NULL) : NULL;
    if (whole)
        last_part(whole, text);
    free(whole);
}

int runs_open(runs *r, const char *folder, const char *const *beside, const char *command)
{
    char other[RUNS_LABEL];
    int called_so = 0;
    *r = (runs){.folder = folder};
    last_part(folder, r->label);
    for (; *beside; beside++) {
        last_part(*beside, other);
        called_so += strcmp(other, r->label) == 0;
    }
    if (called_so > 1)
        snprintf(r->label, sizeof r->label, "%s", folder);
    const int code = folder_identity(folder, command, &r->identity, NULL);
    return code ? code : journal_read(&r->journal, folder, r->identity);
}

void runs_close(runs *r)
{
    json_decref(r->identity);
    json_decref(r->journal.rows);
}

int runs_check(const runs *all, int n)
{
    static const char *const keys[] = {"recipe", "data", "data_hash"};
    for (int i = 1; i < n; i++)
        for (int k = 0; k < 3; k++)
            if (!json_equal(json_object_get(all[i].identity, keys[k]), json_object_get(all[0].identity, keys[k])))
                return complain(GR_USAGE, "compare", "%s and %s are of different %s, %s and %s: nothing to compare",
                                all[0].folder, all[i].folder, k == 0 ? "recipes" : "data",
                                text_at(all[0].identity, keys[k]), text_at(all[i].identity, keys[k]));
    return 0;
}

/* Values of a key in all sweeps; NULL: they are equal. */
static json_t *values_of(const runs *all, int n, const char *key)
{
    json_t *values = json_array(), *first = json_object_get(all[0].identity, key);
    bool equal = true;
    for (int i = 0; i < n; i++) {
        json_t *value = json_object_get(all[i].identity, key);
        equal = equal && (value && first ? json_equal(value, first) : !value == !first);
        json_array_append_new(values, value ? json_incref(value) : json_null());
    }
    if (!equal)
        return values;
    json_decref(values);
    return NULL;
}

json_t *runs_differences(const runs *all, int n)
{
    json_t *differences = json_object(), *value;
    const char *key;
    for (int i = 0; i < n; i++)
        json_object_foreach(all[i].identity, key, value)
        {
            json_t *values = values_of(all, n, key);
            if (values)
                json_object_set_new(differences, key, values);
        }
    return differences;
}

bool runs_counts(const runs *r, size_t i)
{
    static const char *const keys[] = {"optimizer", "batch", "seed", "variant"};
    const json_t *row = json_array_get(r->journal.rows, i);
    for (size_t j = i + 1; j < json_array_size(r->journal.rows); j++) {
        const json_t *later = json_array_get(r->journal.rows, j);
        int same = 0;
        for (int k = 0; k < 4; k++) {
            const json_t *x = json_object_get(row, keys[k]), *y = json_object_get(later, keys[k]);
            same += x && y ? json_equal(x, y) : !x == !y;
        }
        if (same == 4)
            return false;
    }
    return true;
}

static bool is_of_kind(const json_t *row, kind of)
{
    return strcmp(text_at(row, "optimizer"), of.optimizer) == 0 && strcmp(text_at(row, "variant"), of.variant) == 0;
}

const json_t *runs_row(const runs *r, size_t i)
{
    const json_t *row = json_array_get(r->journal.rows, i);
    return strcmp(text_at(row, "state"), "done") == 0 && runs_counts(r, i) ? row : NULL;
}

/* Row i, if it is of a run of this kind that is done. NULL: it is not. */
static const json_t *done_row(const runs *r, size_t i, kind of)
{
    return is_of_kind(json_array_get(r->journal.rows, i), of) ? runs_row(r, i) : NULL;
}

int runs_kinds(const runs *r, kind *kinds, int max)
{
    int n = 0;
    size_t i;
    json_t *row;
    json_array_foreach(r->journal.rows, i, row)
    {
        int k = 0;
        while (k < n && !is_of_kind(row, kinds[k]))
            k++;
        if (k == n && n < max)
            kinds[n++] = (kind){text_at(row, "optimizer"), text_at(row, "variant")};
    }
    return n;
}

static const json_t *partner(const runs *r, kind wanted, const json_t *of)
{
    for (size_t i = 0; i < json_array_size(r->journal.rows); i++) {
        const json_t *row = json_array_get(r->journal.rows, i);
        if (json_equal(json_object_get(row, "batch"), json_object_get(of, "batch")) &&
            json_equal(json_object_get(row, "seed"), json_object_get(of, "seed")) && done_row(r, i, wanted))
            return row; /* that it counts is asked last: it takes a look at all rows behind it */
    }
    return NULL;
}

int runs_pair(const runs *a, kind of_a, const runs *b, kind of_b, const metric *m, pair **pairs)
{
    int n = 0;
    *pairs = calloc(json_array_size(a->journal.rows) + 1, sizeof **pairs);
    if (!*pairs)
        return -1;
    for (size_t i = 0; i < json_array_size(a->journal.rows); i++) {
        const json_t *mine = done_row(a, i, of_a), *other = mine ? partner(b, of_b, mine) : NULL;
        const json_t *x = json_object_get(mine, m->name), *y = json_object_get(other, m->name);
        if (json_is_number(x) && json_is_number(y))
            (*pairs)[n++] = (pair){json_integer_value(json_object_get(mine, "seed")),
                                   json_integer_value(json_object_get(mine, "batch")),
                                   (json_number_value(y) - json_number_value(x)) / m->unit};
    }
    return n;
}

/* Whether every column of its confusion matrix but one is empty. */
int runs_side_by_side(const runs *r)
{
    int n = 0;
    for (size_t i = 0; i < json_array_size(r->journal.rows); i++)
        n += json_integer_value(json_object_get(runs_row(r, i), SIDE_BY_SIDE)) > 1;
    return n;
}

bool runs_is_constant(const json_t *row)
{
    const json_t *matrix = json_object_get(row, "test_confusion");
    int answers = 0;
    const size_t classes = json_array_size(matrix);
    for (size_t column = 0; column < classes; column++) {
        json_int_t count = 0;
        for (size_t line = 0; line < classes; line++)
            count += json_integer_value(json_array_get(json_array_get(matrix, line), column));
        answers += count > 0;
    }
    return answers == 1;
}

int runs_done(const runs *r, kind of, int *constant)
{
    int done = 0;
    *constant = 0;
    for (size_t i = 0; i < json_array_size(r->journal.rows); i++) {
        const json_t *row = done_row(r, i, of);
        done += row != NULL;
        *constant += row && runs_is_constant(row);
    }
    return done;
}

int runs_went_bad(const runs *r, const kind *of)
{
    int n = 0;
    for (size_t i = 0; i < json_array_size(r->journal.rows); i++) {
        const json_t *row = json_array_get(r->journal.rows, i);
        n += (!of || is_of_kind(row, *of)) && strcmp(text_at(row, "state"), row_state(GR_NUMERIC)) == 0 &&
             runs_counts(r, i);
    }
    return n;
}
