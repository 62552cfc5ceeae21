/* folder.c - see folder.h. */
#include "sweep/folder.h"

#include <stdlib.h>
#include <string.h>

#include "sweep/published.h"
#include "terminal/json_memory.h"
#include "terminal/json_values.h"
#include "terminal/system.h"

enum { MOST_SEEDS = 10000 }; /* as --seeds has it */

int folders_check_apart(const char *const *folders, const char *command)
{
    for (int i = 0; folders[i]; i++)
        for (int j = 0; j < i; j++)
            if (is_same_file(folders[i], folders[j]))
                return complain(GR_USAGE, command, "%s is named twice; name each sweep once", folders[i]);
    return 0;
}

int folder_identity(const char *folder, const char *command, json_t **identity, json_t **notes)
{
    static const char *const keys[] = {"optimizers", DEPARTURES_NOTE};
    char path[3072];
    json_fault why;
    snprintf(path, sizeof path, "%s/sweep.json", folder);
    json_t *o = *identity = json_read(path, &why);
    if (json_memory_failed())
        return complain(GR_NO_MEMORY, command, "out of host memory for %s", path);
    if (!json_is_object(o))
        return complain(o ? GR_BAD_DATA : why.code, command, "%s: %s; a folder of 'gradus sweep' is wanted", path,
                        o ? "it is no object" : why.text);
    if (notes)
        *notes = json_object();
    for (int i = 0; i < 2; i++) {
        json_t *note = json_object_get(o, keys[i]);
        if (note && notes)
            json_object_set(*notes, keys[i], note);
        json_object_del(o, keys[i]);
    }
    return 0;
}

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Room for one row in the grid. */
static int add_row(const journal *j, const json_t *row, const char *command, axes *a, grid *g)
{
    const int64_t seed = json_integer_value(json_object_get(row, "seed"));
    if (seed < 0 || seed > MOST_SEEDS)
        return complain(GR_BAD_DATA, command, "%s has a row of seed %lld, which no sweep has", j->folder,
                        (long long)seed);
    g->n_seeds = seed > g->n_seeds ? (int)seed : g->n_seeds;
    const int code = axes_add(a, text_at(row, "variant"));
    return code ? code : grid_add_batch(g, json_integer_value(json_object_get(row, "batch")));
}

static bool has_optimizer(const journal *j, const char *name)
{
    for (size_t i = 0; i < json_array_size(j->rows); i++)
        if (strcmp(text_at(json_array_get(j->rows, i), "optimizer"), name) == 0)
            return true;
    return false;
}

int folder_grid(const journal *j, const char *command, axes *a, grid *g)
{
    int code = 0;
    *g = (grid){.axes = a};
    for (size_t i = 0; code == 0 && i < json_array_size(j->rows); i++)
        code = add_row(j, json_array_get(j->rows, i), command, a, g);
    qsort(g->batches, (size_t)g->n_batches, sizeof *g->batches, by_size);
    for (const optimizer *o = optimizers; o->name; o++)
        if (has_optimizer(j, o->name))
            g->optimizers.list[g->optimizers.n++] = o;
    return code;
}
