/* grid.c - see grid.h. */
#include "sweep/grid.h"

#include <string.h>

#include "terminal/complain.h"
#include "terminal/values.h"

static int refuse(const char *name, const char *word, const char *why)
{
    return complain(GR_USAGE, "sweep", "--%s: \"%s\" %s", name, word, why);
}

int grid_add_batch(grid *g, int64_t batch)
{
    for (int i = 0; i < g->n_batches; i++)
        if (g->batches[i] == batch)
            return 0;
    if (g->n_batches == GRID_MAX)
        return complain(GR_USAGE, "sweep", "--batch: %lld is one too many; a sweep takes 64", (long long)batch);
    g->batches[g->n_batches++] = batch;
    return 0;
}

static int add_batch(grid *g, const char *word)
{
    int64_t batch;
    if (strcmp(word, "auto") == 0) {
        g->auto_batch = true;
        return 0;
    }
    if (!parse_count(word, 1, MAX_BATCH, &batch))
        return refuse("batch", word, "is no whole number from 1 to 1048576; give a list such as 16,32,64, or auto");
    for (int i = 0; i < g->n_batches; i++)
        if (g->batches[i] == batch)
            return refuse("batch", word, "stands there twice");
    return grid_add_batch(g, batch);
}

static int add_optimizer(grid *g, const char *word)
{
    const name_list names = NAMES(optimizers);
    const int place = name_find(names, word);
    const char *near = nearest(word, names);
    char all[256];
    if (place < 0 && near)
        return complain(GR_USAGE, "sweep", "--optimizer: \"%s\" is not known; did you mean %s?", word, near);
    if (place < 0)
        return complain(GR_USAGE, "sweep", "--optimizer: \"%s\" is not known; there are %s", word,
                        names_text(names, all, sizeof all));
    for (int i = 0; i < g->optimizers.n; i++)
        if (g->optimizers.list[i] == &optimizers[place])
            return refuse("optimizer", word, "stands there twice");
    g->optimizers.list[g->optimizers.n++] = &optimizers[place];
    return 0;
}

int grid_parse(const char *batches, const char *names, int64_t seeds, const axes *a, grid *g)
{
    char word[32];
    int code = 0;
    *g = (grid){.n_seeds = (int)seeds, .axes = a};
    while (code == 0 && next_entry(&batches, word))
        code = add_batch(g, word);
    while (code == 0 && next_entry(&names, word))
        code = add_optimizer(g, word);
    return code;
}

int grid_lines(const grid *g)
{
    return g->n_batches * g->optimizers.n * axes_count(g->axes);
}

int grid_count(const grid *g)
{
    return grid_lines(g) * g->n_seeds;
}

cell grid_cell(const grid *g, int i)
{
    const int line = i % grid_lines(g), per_variant = g->n_batches * g->optimizers.n;
    return (cell){.seed = 1 + i / grid_lines(g),
                  .axes = g->axes,
                  .variant = line / per_variant,
                  .optimizer = g->optimizers.list[line % per_variant / g->n_batches],
                  .batch = g->batches[line % g->n_batches]};
}

const char *cell_variant(const cell *c, char text[VARIANT_NAME])
{
    text[0] = '\0';
    return c->axes ? axes_name(c->axes, c->variant, text) : text;
}

settings grid_settings(const settings *shared, const cell *c)
{
    settings s = *shared;
    if (c->axes)
        axes_apply(c->axes, c->variant, &s);
    s.batch = s.batch_schedule ? 0 : c->batch; /* a schedule begins with it */
    s.optimizer = (choice){true, (int)(c->optimizer - optimizers)};
    s.seed = c->seed;
    settings_keep(&s, c->optimizer);
    return s;
}

resolved grid_resolve(const settings *shared, const recipe *r, const cell *c)
{
    const settings s = grid_settings(shared, c);
    return settings_resolve(&s, r);
}
