/* import.c - a file of weights, by whichever tool, into a model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/exchange/exchange.h"

enum { ROOM = 1024 };

typedef struct {
    gr_match match;
    const char *path;
    const gr_module *head; /* that may keep its first values; NULL: none may */
    bool head_kept;
    char told[ROOM];
} importing;

/* --- what fits ---------------------------------------------------------------------------------------------------- */

static bool is_of_layer(const char *name, const gr_module *layer)
{
    const size_t length = layer ? strlen(layer->name) : 0;
    return layer && strncmp(name, layer->name, length) == 0 && name[length] == '.' && !strchr(name + length + 1, '.');
}

/* Whether all of the head fits: its weight and its bias go together. */
static bool head_fits(const importing *m)
{
    bool fits = true;
    for (int i = 0; i < gr__weights_count(m->match.net); i++)
        if (is_of_layer(gr__stored_plan(m->match.net, i)->name, m->head))
            fits = fits && gr__value_fits(&m->match, i);
    return fits;
}

/* Value i does not come from the file: it is the head's, which keeps its own. */
static bool stays(const importing *m, int i)
{
    return m->head_kept && is_of_layer(gr__stored_plan(m->match.net, i)->name, m->head);
}

static bool fail_at(const importing *m, int i)
{
    const gr_parameter_plan *plan = gr__stored_plan(m->match.net, i);
    gr_context *ctx = m->match.net->ctx;
    if (m->match.from[i] < 0)
        return gr__fail(ctx, GR_BAD_DATA, "%s: has no tensor %s; these are weights of another model", m->path,
                        plan->name);
    const gr_saved_tensor *t = &m->match.file->tensors[m->match.from[i]];
    gr_tensor wanted = {.ndim = plan->ndim}, found = {.ndim = t->ndim};
    gr__disk_shape(plan, m->match.tool, wanted.shape);
    memcpy(found.shape, t->shape, sizeof t->shape);
    char a[96], b[96];
    gr__shape_text(&found, a, sizeof a);
    gr__shape_text(&wanted, b, sizeof b);
    if (strcmp(a, b) == 0)
        return gr__fail(ctx, GR_BAD_DATA, "%s: %s has type %s; wanted is f32", m->path, t->name, gr_type_name(t->type));
    return gr__fail(ctx, GR_BAD_DATA, "%s: %s has shape %s; the model wants %s", m->path, t->name, a, b);
}

static int first_misfit(const importing *m)
{
    for (int i = 0; i < gr__weights_count(m->match.net); i++)
        if (!stays(m, i) && !gr__value_fits(&m->match, i))
            return i;
    return -1;
}

/* All of it or none. */
static bool check(importing *m)
{
    const gr_match *match = &m->match;
    m->head_kept = m->head && !head_fits(m);
    const int misfit = first_misfit(m);
    if (misfit >= 0)
        return fail_at(m, misfit);
    for (int i = 0; i < match->file->n; i++)
        if (!match->used[i] && !gr__is_beside(match->file, match->tool, i))
            return gr__fail(match->net->ctx, GR_BAD_DATA, "%s: has a tensor %s that the model does not have", m->path,
                            match->file->tensors[i].name);
    return true;
}

/* --- what is told ------------------------------------------------------------------------------------------------- */

static void tell(importing *m, const char *a, const char *b, const char *c)
{
    const size_t used = strlen(m->told);
    snprintf(m->told + used, ROOM - used, "%s%s%s", a, b, c);
}

static bool has_role(const importing *m, gr_parameter_role role, bool flattened)
{
    for (int i = 0; i < gr_parameter_count(m->match.net); i++) {
        const gr_parameter_plan *plan = gr__stored_plan(m->match.net, i);
        if (plan->role == role && (!flattened || plan->flat[0] > 0))
            return true;
    }
    return false;
}

static void tell_layout(importing *m)
{
    const bool torch = m->match.tool == GR__AS_TORCH;
    tell(m, torch ? "PyTorch's layout" : "Keras' layout", "", "");
    if (has_role(m, GR__FILTERS, false))
        tell(m, torch ? ", filters OIHW to KRSC" : ", filters HWIO to KRSC", "", "");
    if (torch && has_role(m, GR__DENSE_WEIGHT, false))
        tell(m, ", dense weights (out,in) to (in,out)", "", "");
    if (torch && has_role(m, GR__DENSE_WEIGHT, true))
        tell(m, ", behind the flatten C,H,W to H,W,C", "", "");
    if (!torch && m->match.net->parameters->statistics->n > 0)
        tell(m, "; no file tells the epsilon of batch normalisation, Keras' usual one is 1e-3 and not 1e-5", "", "");
}

static void tell_order(importing *m)
{
    tell(m, "; by their order", "", "");
    for (int i = 0; i < m->match.n_model; i++) {
        const gr_layer *l = &m->match.model[i];
        if (l->partner < 0 || strcmp(l->name, m->match.in_file[l->partner].name) == 0)
            continue;
        tell(m, m->told[strlen(m->told) - 1] == 'r' ? " " : ", ", m->match.in_file[l->partner].name, " is ");
        tell(m, l->name, "", "");
    }
}

/* What was done beyond copying. Gradus' own files carry a checksum; of them there is nothing to tell. */
static void tell_all(importing *m)
{
    int beside = 0;
    for (int i = 0; i < m->match.file->n; i++)
        beside += gr__is_beside(m->match.file, m->match.tool, i);
    if (!m->match.file->checked) {
        tell_layout(m);
        if (m->match.by_order)
            tell_order(m);
        char number[16];
        snprintf(number, sizeof number, "%d", beside);
        if (beside > 0)
            tell(m, "; passed over ", number, beside == 1 ? " counter" : " counters");
    }
    if (m->head_kept)
        tell(m, *m->told ? "; " : "", m->head->name, " keeps its first values, as the file has none of its shape");
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static bool load(importing *m)
{
    const gr_match *match = &m->match;
    bool good = true;
    for (int i = 0; good && i < gr__weights_count(match->net); i++)
        good = stays(m, i) || gr__weights_put(gr__stored_plan(match->net, i), match->tool,
                                              &match->file->tensors[match->from[i]], gr__stored_value(match->net, i));
    return good;
}

static bool fill_report(importing *m, gr_import_report *report)
{
    tell_all(m);
    const char *told = gr__keep_text(m->match.net->ctx, m->told);
    report->told = told ? told : "";
    report->head = m->head_kept ? m->head->name : "";
    return told;
}

/* Hostile files have millions of names; a model's own has a few more than the model. */
static bool is_plausible(const gr_module *net, const char *path, const gr_safetensors *file)
{
    const int wanted = gr__weights_count(net);
    return file->n <= 4 * wanted + 1024 ||
           gr__fail(net->ctx, GR_BAD_DATA, "%s: has %d tensors, the model %d; these are weights of another model", path,
                    file->n, wanted);
}

bool gr_import_weights(gr_module *net, const char *path, const gr_import_options *options, gr_import_report *report)
{
    gr_safetensors file;
    gr_import_report unwanted;
    gr_disk_order tool;
    report = report ? report : &unwanted;
    *report = (gr_import_report){.told = "", .head = ""};
    if (!gr__weights_ready(net, path, "gr_import_weights") || !gr__weights_read(net->ctx, path, &file))
        return false;
    importing m = {.path = path, .head = options && options->keep_head ? gr__head(net) : NULL};
    bool good = is_plausible(net, path, &file) && gr__tool_of(net->ctx, path, &file, &tool) &&
                gr__match(net, &file, tool, &m.match);
    if (good) {
        const char *table = gr__match_table(&m.match); /* while the context can still keep it */
        good = table && check(&m) && load(&m) && fill_report(&m, report);
        report->table = good ? NULL : table;
    }
    gr__match_free(&m.match);
    gr__safetensors_free(&file);
    return good;
}
