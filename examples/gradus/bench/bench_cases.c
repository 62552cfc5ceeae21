/* bench_cases.c - see bench_cases.h. A new operation's cases stand in its entry of kernels/ops/ops.def. */
#include "bench/bench_cases.h"

#include <string.h>

#include "bench/bench_ops.h"
#include "kernels/ops/notation.h"

enum { CASES_OF_ONE = 8 };

/* What the list says of each operation. */
static const struct {
    const char *name;
    bool update;
    gr_slot in[BENCH_INPUTS + 1], out[GR_MAX_OUT + 1];
    struct {
        const char *about, *row;
    } cases[CASES_OF_ONE + 1];
} listed[GR_OP_COUNT] = {
#define GR_OP(op, kind, inputs, outputs, formula, args, words, calling, flops, error, bench) \
    [GR_OP_##op] = {#op, GR_##kind == GR_UPDATE, GR_BRACES inputs, GR_BRACES outputs, GR_BRACES bench},
#include "kernels/ops/ops.def"
};

_Static_assert((int)BENCH_ARGS >= (int)GR_MAX_ARGS && (int)BENCH_INPUTS == (int)GR_MAX_IN,
               "the args or inputs of a call");

const bench_case *bench_cases(void)
{
    static bench_case all[GR_OP_COUNT * CASES_OF_ONE + 1];
    if (all[0].op)
        return all;
    int n = 0;
    for (int id = 0; id < GR_OP_COUNT; id++)
        for (int i = 0; listed[id].cases[i].about; i++)
            all[n++] = (bench_case){listed[id].update, id, listed[id].name, listed[id].cases[i].about,
                                    listed[id].cases[i].row};
    return all;
}

int bench_op(const char *name)
{
    for (int id = 0; id < GR_OP_COUNT; id++)
        if (!strcmp(listed[id].name, name))
            return id;
    return -1;
}

bool bench_is_update(int op)
{
    return listed[op].update;
}

const gr_slot *bench_slots(int op)
{
    return listed[op].in;
}

/* The slot of a name, -1: there is none. */
static int slot_of(int op, const char *name)
{
    for (int i = 0; listed[op].in[i].name; i++)
        if (!strcmp(listed[op].in[i].name, name))
            return i;
    return -1;
}

/* Whether it is what layers hand to each other, pictures and gradients with it. */
static bool is_activation(const gr_slot *slot, const gr_word *w)
{
    const bool counts = (slot->flags & GR_SLOT_GRAD) || slot->type == GR_SLOT_HALF;
    return counts && (w->batch || slot->type == GR_SLOT_EITHER || (slot->flags & GR_SLOT_SAMPLES));
}

/* An input by what its slot says. */
static bench_input read_input(const gr_slot *slot, int number, const gr_word *w)
{
    bench_input input = {.name = slot->name, .slot = number, .ndim = w->n, .has_batch = w->batch};
    for (int i = 0; i < w->n; i++)
        input.shape[i] = (int64_t)w->numbers[i];
    input.gradient = slot->flags & GR_SLOT_GRAD;
    input.activation = is_activation(slot, w);
    input.written = (slot->flags & GR_SLOT_REPLACED) == GR_SLOT_REPLACED;
    input.changed = (slot->flags & GR_SLOT_CHANGED) && !input.written;
    input.outside = !strcmp(slot->name, "dy") || !strcmp(slot->name, "weight");
    input.positive = slot->flags & GR_SLOT_POSITIVE;
    input.bytes = slot->type == GR_SLOT_U8;
    input.bias = !strcmp(slot->name, "b") && w->n == 1;
    input.picked = slot->flags & GR_SLOT_PICKED;
    input.saved = slot->flags & GR_SLOT_SAVED;
    return input;
}

/* Integers: labels of the classes of the first input, its numbers, or maps of its pictures. */
static void read_classes(bench_row *row, const bench_case *c, bool whole)
{
    const int64_t *first = row->inputs[0].shape;
    for (int i = 0; i < row->n; i++) {
        bench_input *input = &row->inputs[i];
        if (listed[c->id].in[input->slot].type != GR_SLOT_I32)
            continue;
        input->maps = !strcmp(input->name, "map");
        input->turned = input->maps && !whole;
        const int64_t size = !strcmp(input->name, "index") ? first[0] : first[1];
        input->classes = (int)(size > 1 ? size : 2);
    }
}

bench_row bench_read(const bench_case *c, int64_t batch)
{
    bench_row row = {.saves_result = listed[c->id].out[0].flags & GR_SLOT_SAVED};
    bool bad = false, whole = false, pooled = false;
    gr_word w;
    for (const char *text = c->row; gr__word_next(&text, (double)batch, &w, &bad);) {
        const int slot = slot_of(c->id, w.name);
        if (slot >= 0)
            row.inputs[row.n++] = read_input(&listed[c->id].in[slot], slot, &w);
        else
            gr__word_set(c->id, row.args, &w);
        if (!strcmp(w.name, "no_dx"))
            row.inputs[0].gradient = false;
        row.saves_result |= !strcmp(w.name, "relu");
        whole |= !strcmp(w.name, "whole");
        pooled |= !strcmp(w.name, "pool");
    }
    for (int i = 0; i < row.n; i++)
        row.inputs[i].fine = pooled && !row.inputs[i].bias && !row.inputs[i].outside;
    read_classes(&row, c, whole);
    return row;
}

gr_tensor *bench_call(const bench_case *c, const bench_row *row, gr_context *ctx, gr_tensor *const *inputs)
{
    gr_tensor *in[GR_MAX_IN] = {0};
    for (int i = 0; i < row->n; i++)
        in[row->inputs[i].slot] = inputs[i];
    return gr__call_op(c->id, ctx, in, NULL, true, row->args);
}

const char *bench_shapes(const bench_case *c, char *text, size_t size)
{
    bool bad = false;
    gr_word w;
    text[0] = '\0';
    for (const char *p = c->row, *begin = p; gr__word_next(&p, 1, &w, &bad); begin = p) {
        const size_t n = strlen(text);
        begin += *begin == ' ' && !n;
        if (slot_of(c->id, w.name) >= 0)
            snprintf(text + n, size - n, "%.*s", (int)(p - begin), begin);
    }
    return text;
}
