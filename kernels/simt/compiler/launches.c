/* launches.c - kernel<<<...>>>(...) becomes a call. */
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

int gr__edit_launch(gr__edit *w, int i)
{
    const tokens *t = &w->t;
    const int begin = kernel_begin(t, i), end = config_end(t, i);
    if (begin < 0 || end == t->count || !gr__token_is(t, end + 1, "(")) {
        gr__edit_fail(w, i, "a launch is kernel<<<grid, block>>>(arguments), and this is none");
        return i;
    }
    if (t->token[begin].begin < w->done) {
        gr__edit_fail(w, i, "a launch within a launch");
        return i;
    }
    const bool typed = wants_types(t, end + 1);
    gr__edit_copy_until(w, t->token[begin].begin);
    gr__edit_lines(w, t->token[begin].begin, t->token[i].begin);
    gr__edit_text(w, typed ? "gr__launch_typed(gr__configure(" : "gr__launch_by(gr__configure(");
    gr__edit_quoted(w, begin, i);
    gr__edit_text(w, ", ");
    w->done = t->token[i].end;
    gr__edit_copy_until(w, t->token[end].begin);
    gr__edit_text(w, typed ? "), " : "), [=](auto... gr__a) { ");
    gr__edit_tokens(w, begin, i);
    gr__edit_text(w, typed ? ")" : "(gr__a...); })");
    w->done = t->token[end].end;
    return end;
}
