/* row.c - the notation of rows.def. */
#include "tests/table/row.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NUMBERS = 8 };

/* NAME[a,b,...] or NAME. */
typedef struct {
    char name[32];
    int n;
    double numbers[MAX_NUMBERS];
} word;

/* Reads the next word and moves *text behind it. False: the text is at its end, or *bad is set. */
static bool next_word(const char **text, word *w, bool *bad)
{
    const char *p = *text + strspn(*text, " ");
    size_t length = strcspn(p, " [");
    *w = (word){0};
    if (!length)
        return false;
    *bad = length >= sizeof w->name;
    memcpy(w->name, p, *bad ? 0 : length);
    p += length;
    while (!*bad && *p && strchr(w->n ? "," : "[", *p) && w->n < MAX_NUMBERS) {
        char *end;
        w->numbers[w->n++] = strtod(p + 1, &end);
        *bad = end == p + 1;
        p = end;
    }
    *bad |= w->n && *p++ != ']';
    *text = p;
    return !*bad;
}

static uint64_t fnv1a(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

int row_slot(const gr_op *op, const char *name)
{
    gr_slot slot;
    for (int i = 0; gr__slot(op->inputs, i, &slot); i++)
        if (!strcmp(slot.name, name))
            return i;
    return -1;
}

static void integers(const word *w, int *out)
{
    for (int i = 0; i < w->n; i++)
        out[i] = (int)w->numbers[i];
}

/* The words of windows, of convolution or, with the prefix pool_, of the fused pooling. */
static bool window_word(row *r, const word *w)
{
    bool pool = !strncmp(w->name, "pool_", 5);
    gr_window *window = pool ? &r->pool_window : &r->window;
    const char *name = pool ? w->name + 5 : w->name;
    if (!strcmp(name, "stride") && w->n == 2) {
        integers(w, window->stride);
    } else if (!strcmp(name, "same") && !w->n) {
        window->padding = GR_SAME;
    } else if (!strcmp(name, "pad") && w->n == 4) {
        window->padding = GR_EXPLICIT;
        integers(w, window->pad);
    } else if ((!strcmp(name, "size") || !strcmp(name, "pool")) && w->n == 2) {
        integers(w, r->size);
    } else {
        return false;
    }
    return true;
}

static bool flag_word(row *r, const word *w)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"relu", &r->relu},
                 {"no_dx", &r->no_dx},
                 {"no_db", &r->no_db},
                 {"ties", &r->ties},
                 {"fresh", &r->fresh},
                 {"first", &r->track.first},
                 {"nesterov", &r->momentum.nesterov},
                 {"decoupled", &r->momentum.decoupled},
                 {"second", &r->second},
                 {"whole", &r->whole},
                 {"overflow", &r->overflow},
                 {"finite", &r->finite},
                 {"skip", &r->skip},
                 {"stray", &r->stray},
                 {"from_f16", &r->from_f16},
                 {"from_bf16", &r->from_bf16},
                 {"to_f16", &r->to_f16},
                 {"to_bf16", &r->to_bf16}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(w->name, flags[i].name))
            return *flags[i].flag = true;
    if (strcmp(w->name, "pytorch"))
        return false;
    r->adam.form = GR_ADAM_PYTORCH;
    return true;
}

static bool number_word(row *r, const word *w)
{
    if (!strcmp(w->name, "beta") && w->n == 2) {
        r->adam.beta1 = w->numbers[0];
        r->adam.beta2 = w->numbers[1];
        return true;
    }
    const struct {
        const char *name;
        double *number;
    } numbers[] = {{"epsilon", &r->adam.epsilon},
                   {"lr", &r->state.lr},
                   {"inv_weight", &r->state.inv_weight},
                   {"scale", &r->scale},
                   {"var_epsilon", &r->batch_norm.epsilon},
                   {"momentum", &r->momentum.momentum},
                   {"decay", &r->momentum.weight_decay},
                   {"factor", &r->factor},
                   {"smoothing", &r->smoothing},
                   {"rate", &r->rate}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(w->name, numbers[i].name) && w->n == 1) {
            *numbers[i].number = w->numbers[0];
            return true;
        }
    if (!strcmp(w->name, "resize") && w->n == 2) {
        integers(w, r->resize);
        return true;
    }
    for (int i = 0; i < w->n && w->n <= 4; i++) {
        if (!strcmp(w->name, "mean"))
            r->normalise.mean[i] = (float)w->numbers[i];
        else if (!strcmp(w->name, "std"))
            r->normalise.std[i] = (float)w->numbers[i];
    }
    if (!strcmp(w->name, "t") && w->n == 1)
        r->state.update = (int64_t)w->numbers[0] + (int64_t)r->state.skipped;
    else if (!strcmp(w->name, "loss_scale") && w->n == 1)
        r->state.loss_scale = (float)w->numbers[0];
    else if (!strcmp(w->name, "draws") && w->n == 1)
        r->state.draws = (int64_t)w->numbers[0];
    else if (!strcmp(w->name, "values") && w->n == 1)
        r->track.values = (int64_t)w->numbers[0];
    else if (!strcmp(w->name, "filter") && w->n == 1)
        r->filter = (int)w->numbers[0];
    else if (!strcmp(w->name, "fill") && w->n == 1)
        r->fill = (int)w->numbers[0];
    else if (!strcmp(w->name, "nearly") && w->n == 1)
        r->nearly = (int)w->numbers[0];
    else if (!strcmp(w->name, "updates") && w->n == 1)
        r->updates = (int)w->numbers[0];
    else
        return !strcmp(w->name, "mean") || !strcmp(w->name, "std") || !strcmp(w->name, "draw");
    return true;
}

static bool shape_word(row *r, const word *w)
{
    if (strcmp(w->name, "to") || w->n > GR_MAX_DIMS)
        return false;
    r->to_dims = w->n;
    for (int i = 0; i < w->n; i++)
        r->to[i] = (int64_t)w->numbers[i];
    return true;
}

static bool slot_word(row *r, const word *w)
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
    gr_slot slot;
    for (int i = 0; gr__slot(r->op->inputs, i, &slot); i++)
        if (r->ndim[i] < 0 && !slot.optional)
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
        .state = {.update = 7, .skipped = 4, .draws = 5, .lr = 0.05, .loss_scale = 1, .seed = 0x0123456789abcdef}};
    for (int i = 0; i < GR_MAX_IN; i++)
        r->ndim[i] = -1;
    word w;
    bool bad = false;
    *why = "no operation of this name";
    if (!next_word(&text, &w, &bad))
        return false;
    for (int i = 0; i < GR_OP_COUNT; i++)
        if (!strcmp(gr__ops[i].name, w.name))
            r->op = &gr__ops[i];
    if (!r->op)
        return false;
    *why = "a word that does not fit the notation";
    while (next_word(&text, &w, &bad))
        if (!slot_word(r, &w) && !shape_word(r, &w) && !window_word(r, &w) && !flag_word(r, &w) && !number_word(r, &w))
            return false;
    if (bad)
        return false;
    r->track.momentum = r->momentum.momentum;
    r->state.skip = r->skip;
    r->adam.weight_decay = r->momentum.weight_decay;
    r->adam.decoupled = r->momentum.decoupled;
    *why = "an input is missing";
    return all_there(r);
}
