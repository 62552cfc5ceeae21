/*
 * match.c - which layer of a file is which of a model: by its name; else, among layers of its kind whose names differ
 * in numbers alone (0, 4, 6; conv2d, conv2d_1), by its place. Where that does not decide, nothing is guessed.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "nn/exchange/exchange.h"

/* --- layers of both sides ----------------------------------------------------------------------------------------- */

/* The layer of that name, a new one where there is none yet. */
static gr_layer *layer_named(gr_layer *layers, int *n, const char *name, size_t length)
{
    if (length >= sizeof layers->name)
        length = sizeof layers->name - 1;
    for (int i = 0; i < *n; i++)
        if (strlen(layers[i].name) == length && strncmp(layers[i].name, name, length) == 0)
            return &layers[i];
    gr_layer *l = &layers[(*n)++];
    *l = (gr_layer){.kind = GR__NO_KIND, .place = {-1, -1, -1, -1}, .partner = -1};
    memcpy(l->name, name, length);
    return l;
}

/* A convolution or dense layer is known by its weight, a batch normalisation by any of its own. */
static void set_kind(gr_layer *l, gr_term word, int ndim)
{
    if (word == GR__WEIGHT && ndim == 4)
        l->kind = GR__CONVOLUTION;
    else if (word == GR__WEIGHT && ndim == 2)
        l->kind = GR__DENSE;
    else if (word != GR__BIAS && ndim == 1)
        l->kind = GR__NORMALISATION;
}

static void list_model(gr_match *m)
{
    for (int i = 0; i < gr__weights_count(m->net); i++) {
        const gr_parameter_plan *plan = gr__stored_plan(m->net, i);
        size_t length;
        const gr_term word = gr__word_of(GR__AS_TORCH, plan->name, &length);
        if (word >= GR__WORDS)
            continue; /* of a layer of the program's own: known by its whole name */
        gr_layer *l = layer_named(m->model, &m->n_model, plan->name, length);
        l->place[word] = i;
        set_kind(l, word, plan->ndim);
    }
}

static void list_file(gr_match *m)
{
    for (int i = 0; i < m->file->n; i++) {
        const gr_saved_tensor *t = &m->file->tensors[i];
        size_t length;
        const gr_term word = gr__word_of(m->tool, t->name, &length);
        if (word >= GR__WORDS || gr__is_beside(m->file, m->tool, i))
            continue;
        gr_layer *l = layer_named(m->in_file, &m->n_file, t->name, length);
        l->place[word] = i;
        set_kind(l, word, t->ndim);
    }
}

/* --- partners ----------------------------------------------------------------------------------------------------- */

static void pair(gr_match *m, int of_model, int of_file)
{
    m->model[of_model].partner = of_file;
    m->in_file[of_file].partner = of_model;
}

/* Keras puts the model's name in front: sequential/conv1. */
static void pair_by_name(gr_match *m)
{
    for (int i = 0; i < m->n_file; i++) {
        const char *name = m->in_file[i].name, *slash = m->tool == GR__AS_KERAS ? strrchr(name, '/') : NULL;
        for (int j = 0; j < m->n_model; j++)
            if (m->model[j].partner < 0 && m->in_file[i].partner < 0 &&
                (strcmp(m->model[j].name, name) == 0 || (slash && strcmp(m->model[j].name, slash + 1) == 0)))
                pair(m, j, i);
    }
}

/* The next character of a name that is part of no number; '\0' at its end. Keras counts conv2d, conv2d_1. */
static char next_letter(const char **name)
{
    while (isdigit((unsigned char)**name) || **name == '_')
        (*name)++;
    return **name ? *(*name)++ : '\0';
}

static bool differ_in_numbers_alone(const char *a, const char *b)
{
    char letter;
    do {
        letter = next_letter(&a);
        if (letter != next_letter(&b))
            return false;
    } while (letter);
    return true;
}

/* The layers of a kind that have no partner yet, into list. Returns how many. */
static int without_partner(const gr_layer *layers, int n, gr_layer_kind kind, int *list)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        if (layers[i].partner < 0 && layers[i].kind == kind)
            list[found++] = i;
    return found;
}

static void sort_by_number(const gr_layer *layers, int *list, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && strverscmp(layers[list[j]].name, layers[list[j - 1]].name) < 0; j--) {
            const int other = list[j];
            list[j] = list[j - 1];
            list[j - 1] = other;
        }
}

static void pair_by_order(gr_match *m, gr_layer_kind kind, int *ours, int *theirs)
{
    const int n = without_partner(m->model, m->n_model, kind, ours);
    bool clear = n > 0 && without_partner(m->in_file, m->n_file, kind, theirs) == n;
    for (int i = 1; clear && i < n; i++)
        clear = differ_in_numbers_alone(m->in_file[theirs[0]].name, m->in_file[theirs[i]].name);
    if (!clear)
        return;
    sort_by_number(m->in_file, theirs, n);
    for (int i = 0; i < n; i++)
        pair(m, ours[i], theirs[i]);
    m->by_order = true;
}

/* --- the match ---------------------------------------------------------------------------------------------------- */

static void take(gr_match *m, int value, int tensor)
{
    m->from[value] = tensor;
    m->used[tensor] = true;
}

static void take_all(gr_match *m)
{
    for (int i = 0; i < m->n_model; i++) {
        const gr_layer *l = &m->model[i];
        for (int word = 0; l->partner >= 0 && word < GR__WORDS; word++)
            if (l->place[word] >= 0 && m->in_file[l->partner].place[word] >= 0)
                take(m, l->place[word], m->in_file[l->partner].place[word]);
    }
    for (int i = 0; i < gr__weights_count(m->net); i++) /* variables of layers of the program's own */
        for (int t = 0; m->tool == GR__AS_TORCH && m->from[i] < 0 && t < m->file->n; t++)
            if (strcmp(gr__stored_plan(m->net, i)->name, m->file->tensors[t].name) == 0)
                take(m, i, t);
}

bool gr__match(const gr_module *net, const gr_safetensors *file, gr_disk_order tool, gr_match *m)
{
    const size_t values = (size_t)gr__weights_count(net), tensors = (size_t)file->n;
    gr_context *ctx = net->ctx;
    *m = (gr_match){.net = net, .file = file, .tool = tool};
    m->model = gr__calloc(ctx, values + 1, sizeof *m->model);
    m->in_file = gr__calloc(ctx, tensors + 1, sizeof *m->in_file);
    m->from = gr__calloc(ctx, values + 1, sizeof *m->from);
    m->used = gr__calloc(ctx, tensors + 1, sizeof *m->used);
    int *ours = gr__calloc(ctx, values + 1, sizeof *ours), *theirs = gr__calloc(ctx, tensors + 1, sizeof *theirs);
    if (gr_ok(ctx)) {
        for (size_t i = 0; i < values; i++)
            m->from[i] = -1;
        list_model(m);
        list_file(m);
        pair_by_name(m);
        for (int kind = 0; kind < GR__KINDS; kind++)
            pair_by_order(m, (gr_layer_kind)kind, ours, theirs);
        take_all(m);
    }
    free(ours);
    free(theirs);
    return gr_ok(ctx);
}

bool gr__value_fits(const gr_match *m, int i)
{
    const gr_parameter_plan *plan = gr__stored_plan(m->net, i);
    int64_t want[GR_MAX_DIMS];
    if (m->from[i] < 0)
        return false;
    const gr_saved_tensor *t = &m->file->tensors[m->from[i]];
    gr__disk_shape(plan, m->tool, want);
    bool same = t->ndim == plan->ndim;
    for (int d = 0; same && d < plan->ndim; d++)
        same = t->shape[d] == want[d];
    return same && (t->type == GR_F64 || t->type == GR_F32 || t->type == GR_F16 || t->type == GR_BF16);
}

void gr__match_free(gr_match *m)
{
    free(m->model);
    free(m->in_file);
    free(m->from);
    free(m->used);
}
