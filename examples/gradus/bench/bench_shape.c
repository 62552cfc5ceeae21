/* bench_shape.c - see bench_shape.h. */
#include "bench/bench_shape.h"

#include <math.h>

#include "bench/bench_ops.h"
#include "kernels/ops/notation.h"
#include "terminal/complain.h"
#include "terminal/names.h"

enum { LONGEST = 200, MOST_NAMES = 64 };

static const double largest_size = 1e9, most_elements = 1e12, largest_number = 1e6;

static bool whole(double x)
{
    return x == floor(x); /* no NaN */
}

static int slot_named(int op, const char *name)
{
    const gr_slot *slots = bench_slots(op);
    for (int i = 0; slots[i].name; i++)
        if (strcmp(slots[i].name, name) == 0)
            return i;
    return -1;
}

/* --- tensors ------------------------------------------------------------------------------------------------------ */

static int check_tensor(const char *op, int slot, const gr_word *w, bool *given)
{
    double elements = 1;
    if (given[slot])
        return complain(GR_USAGE, "bench", "--shape: %s stands there twice", w->name);
    given[slot] = true;
    if (slot != 0 && !given[0])
        return complain(GR_USAGE, "bench", "--shape: begin with %s, the first tensor of %s",
                        bench_slots(bench_op(op))->name, op);
    if (w->n < 1 || w->n > GR_MAX_DIMS)
        return complain(GR_USAGE, "bench", "--shape: %s has %d sizes, a tensor has 1 to %d: %s[N,...]", w->name, w->n,
                        GR_MAX_DIMS, w->name);
    for (int i = 0; i < w->n; i++) {
        if (!whole(w->numbers[i]) || w->numbers[i] < 1 || w->numbers[i] > largest_size)
            return complain(GR_USAGE, "bench", "--shape: %s: size %d is %g; sizes are whole numbers from 1 to %.0f",
                            w->name, i + 1, w->numbers[i], largest_size);
        elements *= w->numbers[i];
    }
    if (elements > most_elements)
        return complain(GR_USAGE, "bench", "--shape: %s has %g elements; at most %g", w->name, elements, most_elements);
    return 0;
}

/* --- options ------------------------------------------------------------------------------------------------------ */

/* What the words of an operation may be called; a window's are made in text. */
static void names_of(int op, const char *names[MOST_NAMES], char text[MOST_NAMES][32])
{
    static const char *const of_windows[] = {"stride", "same", "pad"};
    int n = 0;
    for (const gr_slot *slot = bench_slots(op); slot->name; slot++)
        names[n++] = slot->name;
    for (const gr_word_rule *rule = gr__words(op); rule->name; rule++)
        for (int i = 0; i < (rule->field == GR_FIELD_WINDOW ? 3 : 1) && n < MOST_NAMES - 1; i++, n++) {
            snprintf(text[n], sizeof text[n], "%s%s", rule->name, rule->field == GR_FIELD_WINDOW ? of_windows[i] : "");
            names[n] = text[n];
        }
    names[n] = NULL;
}

/* Whether a word's numbers are counts: a window's, or those of a field of integers. */
static bool counts(int op, const char *name)
{
    for (const gr_word_rule *rule = gr__words(op); rule->name; rule++) {
        const bool window = rule->field == GR_FIELD_WINDOW && strncmp(name, rule->name, strlen(rule->name)) == 0;
        const bool integers = rule->field == GR_FIELD_INT || rule->field == GR_FIELD_INT64;
        if (window || strcmp(rule->name, name) == 0)
            return window || integers;
    }
    return false;
}

static int check_option(const char *op, const gr_word *w)
{
    const int id = bench_op(op);
    unsigned char args[BENCH_ARGS] __attribute__((aligned(16))) = {0};
    const char *names[MOST_NAMES];
    char text[MOST_NAMES][32], list[512];
    for (int i = 0; i < w->n; i++)
        if (!(fabs(w->numbers[i]) <= largest_number) || (counts(id, w->name) && !whole(w->numbers[i])))
            return complain(GR_USAGE, "bench", "--shape: %s: %g is no %s from -1e6 to 1e6", w->name, w->numbers[i],
                            counts(id, w->name) ? "whole number" : "number");
    if (strcmp(w->name, "no_dx") == 0 || strcmp(w->name, "whole") == 0 || gr__word_set(id, args, w))
        return 0;
    names_of(id, names, text);
    if (name_find((name_list)NAMES(names), w->name) >= 0)
        return complain(GR_USAGE, "bench",
                        "--shape: %s takes another number of numbers than %d; gradus bench %s --list shows rows",
                        w->name, w->n, op);
    return complain(GR_USAGE, "bench", "--shape: %s has no word \"%s\"; it has %s", op, w->name,
                    names_text((name_list)NAMES(names), list, sizeof list));
}

/* --- a row -------------------------------------------------------------------------------------------------------- */

static int check_words(const char *op, const char *row, bool *given)
{
    const char *rest = row, *at = row;
    bool bad = false;
    gr_word w;
    int code = 0;
    for (; code == 0 && gr__word_next(&rest, 1, &w, &bad); at = rest) {
        const int slot = slot_named(bench_op(op), w.name);
        code = slot < 0 ? check_option(op, &w) : check_tensor(op, slot, &w, given);
    }
    if (code == 0 && (bad || rest[strspn(rest, " ")]))
        return complain(GR_USAGE, "bench",
                        "--shape: \"%s\" is no word: NAME or NAME[NUMBER,...], such as x[N,28,28,96]",
                        at + strspn(at, " "));
    return code;
}

int bench_own_case(const char *op, const char *row, bench_case *c)
{
    bool given[BENCH_INPUTS + 1] = {0};
    if (strlen(row) > LONGEST)
        return complain(GR_USAGE, "bench", "--shape: longer than %d letters", LONGEST);
    if (strstr(row, ",N"))
        return complain(GR_USAGE, "bench", "--shape: N is the batch size and stands first: x[N,28,28,96]");
    for (const char *p = row; *p; p++)
        if (*p < ' ' || *p > '~')
            return complain(GR_USAGE, "bench", "--shape: letter %d is none that a row has", (int)(p - row) + 1);
    const int code = check_words(op, row, given);
    if (code)
        return code;
    const gr_slot *slots = bench_slots(bench_op(op));
    for (int i = 0; slots[i].name; i++)
        if (!given[i] && !(slots[i].flags & GR_SLOT_OPTIONAL))
            return complain(GR_USAGE, "bench", "--shape: %s needs %s[...]; gradus bench %s --list shows rows", op,
                            slots[i].name, op);
    *c =
        (bench_case){bench_is_update(bench_op(op)), bench_op(op), gr_op_name(bench_op(op)), "a shape of your own", row};
    return 0;
}
