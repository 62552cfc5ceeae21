/* looks.c - see looks.h. What is not sure counts as looked at: nobody is to be told that he did not look who did. */
#include "kernels/simt/compiler/looks.h"

#include <ctype.h>
#include <string.h>

/* The token before i, or behind it, that is no directive. */
static int beside(const tokens *t, int i, int step)
{
    do
        i += step;
    while (i >= 0 && i < t->count && t->token[i].kind == TOKEN_DIRECTIVE);
    return i;
}

static bool is_call(const tokens *t, int i)
{
    const token *k = &t->token[i];
    return k->kind == TOKEN_WORD && k->end - k->begin > 4 && !memcmp(t->text + k->begin, "cuda", 4) &&
           isupper((unsigned char)t->text[k->begin + 4]) && gr__token_is(t, beside(t, i, 1), "(") &&
           memcmp(t->text + k->end - 2, "_t", 2); /* std::function<cudaError_t(void *)> */
}

/* Whether the comma at i parts arguments or the values of a list, and not "cudaFree(a), cudaFree(b);". */
static bool parts_arguments(const tokens *t, int i)
{
    static const char *const before_lists[] = {"=", "(", ",", "]", "return", NULL};
    for (i--; i >= 0 && !gr__token_is(t, i, ";") && !gr__token_is(t, i, "}"); i--) {
        if (gr__token_is(t, i, ")") || gr__token_is(t, i, "]"))
            i = gr__token_partner_back(t, i);
        else if (gr__token_is(t, i, "(") || gr__token_is(t, i, "["))
            return true;
        else if (gr__token_is(t, i, "{"))
            return gr__token_is_of(t, beside(t, i, -1), before_lists);
    }
    return false;
}

/* The outermost { that i lies in; -1: none. */
static int outermost(const tokens *t, int i)
{
    int open = -1;
    for (i--; i >= 0; i--)
        if (gr__token_is(t, i, "}"))
            i = gr__token_partner_back(t, i);
        else if (gr__token_is(t, i, "{"))
            open = i;
    return open;
}

/* A = that is no part of == or !=. */
static bool is_store(const tokens *t, int i)
{
    static const char *const parts[] = {"=", "!", "<", ">", "|", "&", NULL};
    return gr__token_is(t, i, "=") && !gr__token_is(t, beside(t, i, 1), "=") &&
           !gr__token_is_of(t, beside(t, i, -1), parts);
}

/* Whether a variable is declared in the function around it and is only ever written there. */
static bool is_never_read(const tokens *t, int variable)
{
    static const char *const types[] = {"cudaError_t", "cudaError", "auto", NULL};
    const int open = outermost(t, variable), close = open < 0 ? 0 : gr__token_partner(t, open);
    bool declared = false;
    for (int i = open + 1; i < close; i++) {
        if (!gr__token_same(t, variable, i))
            continue;
        const bool here = gr__token_is_of(t, beside(t, i, -1), types);
        if (!here && !is_store(t, beside(t, i, 1)))
            return false;
        declared |= here;
    }
    return declared;
}

bool gr__is_looked_at(const tokens *t, int i)
{
    static const char *const before[] = {"(", "=", "return", "!", "?", "|", "<", NULL};
    static const char *const behind[] = {"=", "!", "&", "|", "?", NULL};
    if (!is_call(t, i))
        return false;
    const bool global = gr__token_is(t, i - 1, "::");
    const int close = gr__token_partner(t, beside(t, i, 1)), at = beside(t, global ? i - 1 : i, -1);
    if (close >= t->count || at < 1 || (global && t->token[at].kind == TOKEN_WORD && !gr__token_is(t, at, "return")))
        return false; /* space::cudaFree is not the runtime's */
    if (gr__token_is_of(t, beside(t, close, 1), behind))
        return true;
    if (gr__token_is(t, at, ","))
        return parts_arguments(t, at);
    if (is_store(t, at) && !gr__token_is(t, beside(t, close, 1), ")"))
        return !is_never_read(t, beside(t, at, -1));
    return gr__token_is_of(t, at, before) || (gr__token_is(t, at, "&") && gr__token_is(t, beside(t, at, -1), "&"));
}
