/* table.c - a model and a file side by side, where they differ. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/exchange/exchange.h"

enum { MOST_LINES = 40, LINE = 400 };

typedef struct {
    char text[(MOST_LINES + 2) * LINE];
    size_t used;
    int lines, more;
} table;

/* A file's names may hold anything; a table has lines. */
static void make_plain(char *text)
{
    for (; *text; text++)
        *text = isprint((unsigned char)*text) ? *text : '?';
}

static void add_line(table *t, const char *ours, const char *our_shape, const char *theirs, const char *their_shape)
{
    char line[LINE];
    if (t->lines == MOST_LINES) {
        t->more++;
        return;
    }
    t->lines++;
    snprintf(line, sizeof line, "  %-30s %-18s %-30s %s", ours, our_shape, theirs, their_shape);
    make_plain(line);
    t->used += (size_t)snprintf(t->text + t->used, sizeof t->text - t->used, "%s\n", line);
}

static const char *shape_of(const gr_saved_tensor *t, char text[96])
{
    gr_tensor shape = {.ndim = t->ndim};
    memcpy(shape.shape, t->shape, sizeof t->shape);
    gr__shape_text(&shape, text, 96);
    return text;
}

static void add_value(table *t, const gr_match *m, int i)
{
    const gr_parameter_plan *plan = gr__stored_plan(m->net, i);
    gr_tensor wanted = {.ndim = plan->ndim};
    char ours[96], theirs[96];
    gr__disk_shape(plan, m->tool, wanted.shape);
    gr__shape_text(&wanted, ours, sizeof ours);
    if (m->from[i] < 0)
        add_line(t, plan->name, ours, "-", "");
    else
        add_line(t, plan->name, ours, m->file->tensors[m->from[i]].name,
                 shape_of(&m->file->tensors[m->from[i]], theirs));
}

const char *gr__match_table(const gr_match *m)
{
    gr_context *ctx = m->net->ctx;
    table *t = gr__calloc(ctx, 1, sizeof *t);
    int fitting = 0;
    if (!t)
        return NULL;
    add_line(t, "the model", "wants", "the file", "has");
    for (int i = 0; i < gr__weights_count(m->net); i++)
        if (gr__value_fits(m, i))
            fitting++;
        else
            add_value(t, m, i);
    char shape[96];
    for (int i = 0; i < m->file->n; i++)
        if (!m->used[i] && !gr__is_beside(m->file, m->tool, i))
            add_line(t, "-", "", m->file->tensors[i].name, shape_of(&m->file->tensors[i], shape));
    if (t->more > 0)
        t->used += (size_t)snprintf(t->text + t->used, LINE, "  and %d more\n", t->more);
    snprintf(t->text + t->used, sizeof t->text - t->used, "  %d tensors fit\n", fitting);
    const char *kept = gr__keep_text(ctx, t->text);
    free(t);
    return kept;
}
