/* grid.c - see grid.h. */
#include "sweep/grid.h"

#include <string.h>

#include "recipes/settings.h"
#include "terminal/options.h"

/* Takes the next entry of a comma list into word. False at the end. An entry that is too long comes out empty. */
static bool next_word(const char **list, char word[32])
{
    if (!*list)
        return false;
    size_t length = strcspn(*list, ",");
    bool fits = length < 32;
    memcpy(word, *list, fits ? length : 0);
    word[fits ? length : 0] = '\0';
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return true;
}

static int refuse(const char *name, const char *word, const char *why)
{
    return complain(GR_USAGE, "sweep", "--%s: \"%s\" %s", name, word, why);
}

static int add_batch(grid *g, const char *word)
{
    int64_t batch;
    if (!parse_count(word, 1, MAX_BATCH, &batch))
        return refuse("batch", word, "is no whole number from 1 to 1048576; give a list such as 16,32,64");
    for (int i = 0; i < g->n_batches; i++)
        if (g->batches[i] == batch)
            return refuse("batch", word, "stands there twice");
    if (g->n_batches == GRID_MAX)
        return refuse("batch", word, "is one too many; a sweep takes 64");
    g->batches[g->n_batches++] = batch;
    return 0;
}

static bool grid_has(const grid *g, const char *optimizer)
{
    for (int i = 0; i < g->n_optimizers; i++)
        if (strcmp(g->optimizers[i], optimizer) == 0)
            return true;
    return false;
}

static int add_optimizer(grid *g, const char *word)
{
    const char *name = NULL;
    for (const char *const *known = optimizer_names; *known; known++)
        if (strcmp(*known, word) == 0)
            name = *known;
    const char *near = nearest(word, optimizer_names);
    if (!name && near)
        return complain(GR_USAGE, "sweep", "--optimizer: \"%s\" is not known; did you mean %s?", word, near);
    if (!name)
        return refuse("optimizer", word, "is not known; there are sgd, momentum, adam, adamw, lars, sam and prox");
    if (grid_has(g, name))
        return refuse("optimizer", word, "stands there twice");
    g->optimizers[g->n_optimizers++] = name;
    return 0;
}

int grid_parse(const char *batches, const char *optimizers, int64_t seeds, grid *g)
{
    char word[32];
    int code = 0;
    *g = (grid){.n_seeds = (int)seeds};
    while (code == 0 && next_word(&batches, word))
        code = add_batch(g, word);
    while (code == 0 && next_word(&optimizers, word))
        code = add_optimizer(g, word);
    return code;
}

int grid_count(const grid *g)
{
    return g->n_batches * g->n_optimizers * g->n_seeds;
}

cell grid_cell(const grid *g, int i)
{
    int per_optimizer = g->n_batches, per_seed = g->n_batches * g->n_optimizers;
    return (cell){.seed = 1 + i / per_seed,
                  .optimizer = g->optimizers[i % per_seed / per_optimizer],
                  .batch = g->batches[i % per_optimizer]};
}

unsigned grid_takes(const grid *g)
{
    unsigned takes = 0;
    for (int i = 0; i < g->n_optimizers; i++)
        takes |= optimizer_takes(g->optimizers[i]);
    return takes;
}
