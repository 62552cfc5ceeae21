/* launches.c - kernel<<<...>>>(...) becomes a call. */
#include <stdio.h>
#include <string.h>

#include "kernels/simt/compiler/edit.h"

/* From the > at i back to the < of its template arguments; -1: none. */
static int template_begin(const tokens *t, int i)
{
    int depth = 0;
    for (; i >= 0; i--) {
        if (gr__token_is(t, i, ")") || gr__token_is(t, i, "]"))
            i = gr__token_partner_back(t, i);
        else if (gr__token_is(t, i, ">>>"))
            depth += 3;
        else
            depth += gr__token_is(t, i, ">") - gr__token_is(t, i, "<");
        if (i < 0 || gr__token_is(t, i, ";") || gr__token_is(t, i, "{"))
            return -1;
        if (depth == 0)
            return i;
    }
    return -1;
}

/* The first token of the expression that ends before the <<< at i: name, a::b<T>, (pointer), table[i], x.y. */
static int kernel_begin(const tokens *t, int i)
{
    for (i--; i >= 0; i--) {
        if (gr__token_is(t, i, ">"))
            i = template_begin(t, i) - 1;
        else if (gr__token_is(t, i, "]"))
            i = gr__token_partner_back(t, i) - 1;
        if (i >= 0 && gr__token_is(t, i, ")"))
            i = gr__token_partner_back(t, i);
        if (i < 0)
            return -1;
        const bool joined = gr__token_is(t, i - 1, "::") || gr__token_is(t, i - 1, ".") || gr__token_is(t, i - 1, "->");
        if (!joined)
            return i;
        i--;
        if (i == 0 || (gr__token_is(t, i, "::") && t->token[i - 1].kind != TOKEN_WORD && !gr__token_is(t, i - 1, ">")))
            return i; /* ::kernel */
    }
    return -1;
}

/* The >>> that closes the <<< at i, or count. */
static int config_end(const tokens *t, int i)
{
    for (i++; i < t->count && !gr__token_is(t, i, ">>>") && !gr__token_is(t, i, ";"); i++)
        if (gr__token_is(t, i, "(") || gr__token_is(t, i, "[") || gr__token_is(t, i, "{"))
            i = gr__token_partner(t, i);
    return gr__token_is(t, i, ">>>") ? i : t->count;
}

/* Whether one of the arguments from the ( at i has no type of its own: NULL, {...}. */
static bool wants_types(const tokens *t, int i)
{
    const int close = gr__token_partner(t, i);
    for (int k = i + 1; k < close; k++) {
        const bool first = gr__token_is(t, k - 1, ",") || k == i + 1;
        const bool last = gr__token_is(t, k + 1, ",") || k + 1 == close;
        if (first && gr__token_is(t, k, "{"))
            return true;
        if (first && last && gr__token_is(t, k, "__null"))
            return true;
        if (gr__token_is(t, k, "(") || gr__token_is(t, k, "["))
            k = gr__token_partner(t, k);
    }
    return false;
}

/*
 * How many arguments stand behind the ( at i, and a bit for each that is a bare 0, which has to come to the kernel as
 * such: it may be for a pointer. 0 where that cannot be told: < may begin a list with commas of its own.
 */
static int bare_zeros(const tokens *t, int i, unsigned *zeros)
{
    const int close = gr__token_partner(t, i);
    int n = 1;
    *zeros = 0;
    for (int k = i + 1; k < close; k++) {
        const bool first = k == i + 1 || gr__token_is(t, k - 1, ",");
        const bool last = k + 1 == close || gr__token_is(t, k + 1, ",");
        if (gr__token_is(t, k, "<") || gr__token_is(t, k, "...") || n == 32)
            return 0;
        if (gr__token_is(t, k, "(") || gr__token_is(t, k, "[") || gr__token_is(t, k, "{"))
            k = gr__token_partner(t, k);
        else if (gr__token_is(t, k, ","))
            n++;
        else if (first && last && gr__token_is(t, k, "0"))
            *zeros |= 1u << (n - 1);
    }
    return n;
}

/* The ( of the parameters that the __global__ at i declares, or count. */
static int parameters(const tokens *t, int i)
{
    for (; i < t->count && !gr__token_is(t, i, ";") && !gr__token_is(t, i, "{"); i++) {
        if (!gr__token_is(t, i, "("))
            continue;
        const int close = gr__token_partner(t, i);
        if (gr__token_is(t, close + 1, "{") || gr__token_is(t, close + 1, ";"))
            return i;
        i = close; /* of __launch_bounds__ */
    }
    return t->count;
}

/* Whether the & at i ends the type of a parameter: T &x, T &; not T &&x, and not a pack of them. */
static bool is_reference(const tokens *t, int i)
{
    return gr__token_is(t, i, "&") && !gr__token_is(t, i - 1, "&") &&
           (t->token[i + 1].kind == TOKEN_WORD || gr__token_is(t, i + 1, ",") || gr__token_is(t, i + 1, ")"));
}

/* A bit for each parameter behind the ( at i that is a reference. */
static unsigned references(const tokens *t, int i)
{
    const int close = gr__token_partner(t, i);
    unsigned bits = 0;
    int place = 0, depth = 0;
    for (int k = i + 1; k < close && place < 32; k++) {
        depth += gr__token_is(t, k, "<") - gr__token_is(t, k, ">");
        if (gr__token_is(t, k, "(") || gr__token_is(t, k, "[") || gr__token_is(t, k, "{"))
            k = gr__token_partner(t, k);
        else if (depth == 0 && gr__token_is(t, k, ","))
            place++;
        else if (depth == 0 && is_reference(t, k))
            bits |= 1u << place;
    }
    return bits;
}

void gr__edit_kernel(gr__edit *w, int i)
{
    const int open = parameters(&w->t, i);
    const unsigned bits = open < w->t.count ? references(&w->t, open) : 0;
    if (bits && w->kernels == (int)(sizeof w->kernel / sizeof *w->kernel))
        gr__edit_fail(w, i, "too many kernels that take references");
    else if (bits)
        w->kernel[w->kernels++] = (gr__by_reference){open - 1, bits};
}

/* The references that the kernel before the <<< at i takes. */
static unsigned references_of(const gr__edit *w, int i)
{
    const tokens *t = &w->t;
    const int name = gr__token_is(t, i - 1, ">") ? template_begin(t, i - 1) - 1 : i - 1;
    for (int k = w->kernels - 1; k >= 0 && name >= 0; k--) {
        const token *a = &t->token[name], *b = &t->token[w->kernel[k].name];
        if (a->end - a->begin == b->end - b->begin &&
            !memcmp(t->text + a->begin, t->text + b->begin, a->end - a->begin))
            return w->kernel[k].references;
    }
    return 0;
}

/* What stands before the name of the kernel. */
static void begin_launch(gr__edit *w, bool typed, unsigned bits)
{
    char text[64];
    snprintf(text, sizeof text, "gr__launch_at<%uu>(gr__configure(", bits);
    gr__edit_text(w, typed ? "gr__launch_typed(gr__configure(" : bits ? text : "gr__launch_by(gr__configure(");
}

/* A list of n: before each its number, and 0 for those that are a bare 0. */
static void number_list(gr__edit *w, int n, const char *before, unsigned zeros)
{
    char text[32];
    for (int k = 0; k < n; k++) {
        snprintf(text, sizeof text, "%sgr__a%d", before, k);
        gr__edit_text(w, k ? ", " : "");
        gr__edit_text(w, zeros >> k & 1 ? "0" : text);
    }
}

/* The call of the kernel that the tokens from begin to end name, by any arguments of n, some of them bare zeros. */
static void call_with_zeros(gr__edit *w, int begin, int end, int n, unsigned zeros)
{
    gr__edit_text(w, "), [=](");
    number_list(w, n, "auto ", 0);
    gr__edit_text(w, ") { ");
    gr__edit_tokens(w, begin, end);
    gr__edit_text(w, "(");
    number_list(w, n, "", zeros);
    gr__edit_text(w, "); })");
}

static bool has_comma(const tokens *t, int from, int end)
{
    for (int i = from; i < end; i++) {
        if (gr__token_is(t, i, ","))
            return true;
        if (gr__token_is(t, i, "(") || gr__token_is(t, i, "[") || gr__token_is(t, i, "{"))
            i = gr__token_partner(t, i);
    }
    return false;
}

int gr__edit_launch(gr__edit *w, int i)
{
    const tokens *t = &w->t;
    const int begin = kernel_begin(t, i), end = config_end(t, i);
    if (begin < 0 || end == t->count || !gr__token_is(t, end + 1, "(")) {
        gr__edit_fail(w, i, "a launch is kernel<<<grid, block>>>(arguments), and this is none");
        return i;
    }
    if (!has_comma(t, i + 1, end)) {
        gr__edit_fail(w, i,
                      "a launch says how many blocks and how many threads in each: kernel<<<blocks, threads>>>(...)");
        return i;
    }
    if (t->token[begin].begin < w->done) {
        gr__edit_fail(w, i, "a launch within a launch");
        return i;
    }
    const bool typed = wants_types(t, end + 1);
    const unsigned bits = references_of(w, i);
    unsigned zeros;
    const int n = bare_zeros(t, end + 1, &zeros);
    gr__edit_copy_until(w, t->token[begin].begin);
    gr__edit_lines(w, t->token[begin].begin, t->token[i].begin);
    begin_launch(w, typed, bits);
    gr__edit_quoted(w, begin, i);
    gr__edit_text(w, ", ");
    w->done = t->token[i].end;
    gr__edit_copy_until(w, t->token[end].begin);
    if (n > 0 && zeros && !typed && !bits) {
        call_with_zeros(w, begin, i, n, zeros);
    } else {
        gr__edit_text(w, typed ? "), " : bits ? "), [=](auto &...gr__a) { " : "), [=](auto... gr__a) { ");
        gr__edit_tokens(w, begin, i);
        gr__edit_text(w, typed ? ")" : "(gr__a...); })");
    }
    w->done = t->token[end].end;
    return end;
}
