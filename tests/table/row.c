/* row.c - the notation of rows.def. */
#include "tests/table/row.h"

#include <string.h>

#include "kernels/ops/notation.h"
static uint64_t fnv1a(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

int row_slot(const gr_op *op, const char *name)
{
    for (int i = 0; i < op->n_in; i++)
        if (!strcmp(op->in[i].name, name))
            return i;
    return -1;
}

bool row_has(const row *r, const char *name)
{
    const size_t length = strlen(name);
    for (const char *p = strchr(r->text, ' '); p; p = strchr(p + 1, ' '))
        if (!strncmp(p + 1, name, length) && strchr(" [", p[1 + length])) /* the terminating 0 included */
            return true;
    return false;
}

/* A word that says of the row that it is so. */
static bool flag_word(row *r, const gr_word *w)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"no_dx", &r->no_dx},   {"no_db", &r->no_db},       {"ties", &r->ties},           {"fresh", &r->fresh},
                 {"second", &r->second}, {"whole", &r->whole},       {"overflow", &r->overflow},   {"skip", &r->skip},
                 {"stray", &r->stray},   {"from_f16", &r->from_f16}, {"from_bf16", &r->from_bf16}, {"wgmma", &r->wgmma},
                 {"halves", &r->halves}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(w->name, flags[i].name))
            return *flags[i].flag = true;
    return false;
}

/* Numbers of the step state, of the draw and of the golden. */
static bool number_word(row *r, const gr_word *w)
{
    const double v = w->numbers[0];
    if (!strcmp(w->name, "draw")) /* another key */
        return true;
    if (!strcmp(w->name, "resize") && w->n == 2) {
        r->resize[0] = (int)v;
        r->resize[1] = (int)w->numbers[1];
        return true;
    }
    if (w->n != 1)
        return false;
    if (!strcmp(w->name, "lr"))
        r->state.lr = v;
    else if (!strcmp(w->name, "inv_weight"))
        r->state.inv_weight = v;
    else if (!strcmp(w->name, "t"))
        r->state.update = (int64_t)v + (int64_t)r->state.skipped;
    else if (!strcmp(w->name, "loss_scale"))
        r->state.loss_scale = (float)v;
    else if (!strcmp(w->name, "draws"))
        r->state.draws = (int64_t)v;
    else if (!strcmp(w->name, "scale"))
        r->scale = v;
    else if (!strcmp(w->name, "nearly"))
        r->nearly = (int)v;
    else if (!strcmp(w->name, "multiprocessors"))
        r->multiprocessors = (int)v;
    else if (!strcmp(w->name, "updates"))
        r->updates = (int)v;
    else
        return false;
    return true;
}

static bool slot_word(row *r, const gr_word *w)
{
    int slot = row_slot(r->op, w->name);
    if (slot < 0 || w->n > GR_MAX_DIMS)
        return false;
    r->ndim[slot] = w->n;
    for (int i = 0; i < w->n; i++)
        r->shape[slot][i] = (int64_t)w->numbers[i];
    return true;
}

static bool all_there(const row *r)
{
    for (int i = 0; i < r->op->n_in; i++)
        if (r->ndim[i] < 0 && !(r->op->in[i].flags & GR_SLOT_OPTIONAL))
            return false;
    return true;
}

bool row_parse(const char *text, bool golden, row *r, const char **why)
{
    /* Numbers of the step state that a kernel could take for one another all differ. */
    *r = (row){
        .text = text,
        .golden = golden,
        .hash = fnv1a(text),
        .updates = 1,
        .scale = 1,
        .multiprocessors = 1,
        .state = {.update = 7, .skipped = 4, .draws = 5, .lr = 0.05, .loss_scale = 1, .seed = 0x0123456789abcdef}};
    for (int i = 0; i < GR_MAX_IN; i++)
        r->ndim[i] = -1;
    gr_word w;
    bool bad = false;
    *why = "no operation of this name";
    if (!gr__word_next(&text, 0, &w, &bad))
        return false;
    for (int i = 0; i < GR_OP_COUNT; i++)
        if (!strcmp(gr__ops[i].name, w.name))
            r->op = &gr__ops[i];
    if (!r->op)
        return false;
    *why = "a word that does not fit the notation";
    while (gr__word_next(&text, 0, &w, &bad))
        if (!slot_word(r, &w) && !gr__word_set(r->op->id, r->args, &w) && !flag_word(r, &w) && !number_word(r, &w))
            return false;
    if (bad)
        return false;
    r->state.skip = r->skip;
    *why = "an input is missing";
    return all_there(r);
}
