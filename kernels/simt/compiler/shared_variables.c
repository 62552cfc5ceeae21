/* shared_variables.c - __shared__ declarations become references to what the emulator keeps for the block. */
#include <stdio.h>

#include "kernels/simt/compiler/edit.h"

/* What may stand in a declaration beside its type. Returns the token behind it; i: it is something else. */
static int skip_specifier(const tokens *t, int i)
{
    static const char *const words[] = {"__shared__", "extern", "static", NULL};
    for (int k = 0; words[k]; k++)
        if (gr__token_is(t, i, words[k]))
            return i + 1;
    if (t->token[i].kind == TOKEN_DIRECTIVE)
        return i + 1;
    if (gr__token_is(t, i, "__attribute__") || gr__token_is(t, i, "alignas"))
        return gr__token_partner(t, i + 1) + 1;
    return i;
}

/* Type and names of a declaration: tokens. */
typedef struct {
    int begin, end; /* the statement, end at its ; */
    int name;       /* of the first declarator */
    bool external;
} declaration;

/* The name of a declarator that begins at i: the last word before its [ or its end. With types before it, too. */
static int find_name(const tokens *t, int i, int end)
{
    int name = -1, depth = 0;
    for (; i < end; i++) {
        const int behind = skip_specifier(t, i);
        if (behind != i) {
            i = behind - 1;
            continue;
        }
        depth += gr__token_is(t, i, "<") - gr__token_is(t, i, ">") - 3 * gr__token_is(t, i, ">>>");
        if (depth > 0)
            continue;
        if (gr__token_is(t, i, "{"))
            i = gr__token_partner(t, i);
        else if (gr__token_is(t, i, "[") || gr__token_is(t, i, ",") || gr__token_is(t, i, "="))
            break;
        else if (t->token[i].kind == TOKEN_WORD)
            name = i;
    }
    return name;
}

static declaration read_declaration(const tokens *t, int at)
{
    declaration d = {.begin = at, .end = at};
    while (d.begin > 0 && !gr__token_is(t, d.begin - 1, ";") && !gr__token_is(t, d.begin - 1, "{") &&
           !gr__token_is(t, d.begin - 1, "}") && !gr__token_is(t, d.begin - 1, ":") &&
           t->token[d.begin - 1].kind != TOKEN_DIRECTIVE)
        d.begin--;
    while (d.end < t->count && !gr__token_is(t, d.end, ";"))
        d.end =
            gr__token_is(t, d.end, "{") || gr__token_is(t, d.end, "(") ? gr__token_partner(t, d.end) + 1 : d.end + 1;
    for (int i = d.begin; i < d.end; i++)
        d.external |= gr__token_is(t, i, "extern");
    d.name = find_name(t, d.begin, d.end);
    return d;
}

/* The type, without the words that are not part of it. */
static void append_type(gr__edit *w, const declaration *d)
{
    int end = d->name;
    while (gr__token_is(&w->t, end - 1, "*"))
        end--;
    for (int i = d->begin; i < end;) {
        const int behind = skip_specifier(&w->t, i);
        if (behind == i)
            gr__edit_tokens(w, i, i + 1);
        i = behind == i ? i + 1 : behind;
    }
}

static void append_place(gr__edit *w, int at)
{
    char line[32];
    const token *k = &w->t.token[at];
    snprintf(line, sizeof line, ", %d", k->line);
    if (k->file_length)
        gr__edit_append(w, w->t.text + k->file_begin, k->file_length);
    else
        gr__edit_text(w, "\"\"");
    gr__edit_text(w, line);
}

/* "STARS name" from first to name, or the dimensions from name + 1 to end. */
static void append_stars(gr__edit *w, int name)
{
    for (int i = name - 1; gr__token_is(&w->t, i, "*"); i--)
        gr__edit_text(w, "*");
}

/* In a function a reference; outside a function gr__shared_NAME(), which its uses become, and a note of it. */
static void static_variable(gr__edit *w, const declaration *d, int name, int end, bool in_function)
{
    gr__edit_text(w, "typedef ");
    append_type(w, d);
    append_stars(w, name);
    gr__edit_text(w, " gr__type_");
    gr__edit_tokens(w, name, end);
    gr__edit_text(w, "; enum { gr__constant_size_of_"); /* g++ would let a size pass that is not (gxx.c) */
    gr__edit_tokens(w, name, name + 1);
    gr__edit_text(w, "= sizeof(gr__type_");
    gr__edit_tokens(w, name, name + 1);
    gr__edit_text(w, ") }; static const gr__simt_variable gr__variable_");
    gr__edit_tokens(w, name, name + 1);
    gr__edit_text(w, "= {");
    gr__edit_quoted(w, name, name + 1);
    gr__edit_text(w, ", sizeof(gr__type_");
    gr__edit_tokens(w, name, name + 1);
    gr__edit_text(w, "), ");
    append_place(w, name);
    gr__edit_text(w, in_function ? "}; gr__type_" : "}; static inline gr__type_");
    gr__edit_tokens(w, name, name + 1);
    gr__edit_text(w, in_function ? "&" : "&gr__shared_");
    gr__edit_tokens(w, name, name + 1);
    gr__edit_text(w, in_function ? "= *(gr__type_" : "() { return *(gr__type_");
    gr__edit_tokens(w, name, name + 1);
    gr__edit_text(w, "*)gr__simt_shared(&gr__variable_");
    gr__edit_tokens(w, name, name + 1);
    gr__edit_text(w, in_function ? "); " : "); } ");
    if (in_function)
        return;
    if (w->shared_count == (int)(sizeof w->shared / sizeof *w->shared))
        gr__edit_fail(w, name, "too many __shared__ variables outside of functions");
    else
        w->shared[w->shared_count++] = name;
}

/* T name[][8]: a pointer to rows of 8. Outside of functions an object that is looked up at each use. */
static void dynamic_variable(gr__edit *w, const declaration *d, int name, int end, bool in_function)
{
    if (!gr__token_is(&w->t, name + 1, "[") || !gr__token_is(&w->t, name + 2, "]")) {
        gr__edit_fail(w, name,
                      "an extern __shared__ variable is an array without a size: extern __shared__ float s[];");
        return;
    }
    gr__edit_text(w, "typedef ");
    append_type(w, d);
    append_stars(w, name);
    gr__edit_text(w, " gr__type_");
    gr__edit_tokens(w, name, name + 1);
    gr__edit_tokens(w, name + 3, end);
    gr__edit_text(w, in_function ? "; gr__type_" : "; static const gr__dynamic_array<gr__type_");
    gr__edit_tokens(w, name, name + 1);
    gr__edit_text(w, in_function ? "*" : "> ");
    gr__edit_tokens(w, name, name + 1);
    if (in_function) {
        gr__edit_text(w, "= (gr__type_");
        gr__edit_tokens(w, name, name + 1);
        gr__edit_text(w, "*)gr__simt_dynamic_shared_if_any(");
        append_place(w, name);
        gr__edit_text(w, "); ");
    } else {
        gr__edit_text(w, "= {}; ");
    }
}

static bool is_type(const tokens *t, int i)
{
    static const char *const types[] = {"int",    "float",    "double", "char", "short",  "long",   "bool",
                                        "signed", "unsigned", "void",   "half", "size_t", "__half", NULL};
    return gr__token_is_of(t, i, types);
}

/* Whether the comma at i is one of "int a[4], b = 3;", and not of a list of arguments or of expressions. */
static bool is_of_declaration(const tokens *t, int i)
{
    int k = i - 1;
    while (k >= 0 && !gr__token_is(t, k, ";") && !gr__token_is(t, k, "{") && !gr__token_is(t, k, "(")) {
        if (gr__token_is(t, k, "}") && gr__token_is(t, gr__token_partner_back(t, k) - 1, ")"))
            break;
        const bool closes = gr__token_is(t, k, ")") || gr__token_is(t, k, "]") || gr__token_is(t, k, "}");
        k = (closes ? gr__token_partner_back(t, k) : k) - 1;
    }
    return is_type(t, k + 1) || (t->token[k + 1].kind == TOKEN_WORD && t->token[k + 2].kind == TOKEN_WORD);
}

/* Whether the name at i is declared there: behind a type's word, with stars or without. */
static bool is_declared(const tokens *t, int i)
{
    static const char *const others[] = {"return", "else", "do", "case", "throw", "sizeof", "not", "and", "or", NULL};
    int k = i - 1;
    while (gr__token_is(t, k, "*") || gr__token_is(t, k, "&") || gr__token_is(t, k, "const"))
        k--;
    if (gr__token_is(t, k, ","))
        return is_of_declaration(t, k);
    return k == i - 1 ? k >= 0 && t->token[k].kind == TOKEN_WORD && !gr__token_is_of(t, k, others) : is_type(t, k);
}

/* Whether the function around, from its return type on, has something of its own that is called as the name at i. */
static bool is_own(const gr__edit *w, int i)
{
    const tokens *t = &w->t;
    int from = w->function;
    while (from > 0 && !gr__token_is(t, from - 1, ";") && !gr__token_is(t, from - 1, "}") &&
           !gr__token_is(t, from - 1, "{") && t->token[from - 1].kind != TOKEN_DIRECTIVE)
        from--;
    const int to = gr__token_partner(t, w->function);
    for (int k = from; k < to; k++)
        if (gr__token_same(t, k, i) && is_declared(t, k))
            return true;
    return false;
}

bool gr__edit_shared_use(gr__edit *w, int i)
{
    const tokens *t = &w->t;
    if (w->depth == 0 || w->scope[w->depth - 1] != 'f' || gr__token_is(t, i - 1, ".") || gr__token_is(t, i - 1, "->"))
        return false;
    for (int k = 0; k < w->shared_count; k++)
        if (gr__token_same(t, w->shared[k], i) && !is_own(w, i)) {
            gr__edit_copy_until(w, t->token[i].begin);
            gr__edit_text(w, "gr__shared_");
            gr__edit_copy_until(w, t->token[i].end);
            gr__edit_text(w, "()");
            return true;
        }
    return false;
}

int gr__edit_shared(gr__edit *w, int i)
{
    const tokens *t = &w->t;
    const declaration d = read_declaration(t, i);
    const bool in_function = w->depth > 0 && w->scope[w->depth - 1] == 'f';
    if (d.name < 0 || d.end >= t->count || t->token[d.begin].begin < w->done) {
        gr__edit_fail(w, i, "this __shared__ is no declaration that the emulator understands");
        return i;
    }
    gr__edit_copy_until(w, t->token[d.begin].begin);
    for (int name = d.name, end; name >= 0; name = end < d.end ? find_name(t, end + 1, d.end) : -1) {
        bool given = false;
        for (end = name + 1; end < d.end && !gr__token_is(t, end, ",");) {
            const bool opens = gr__token_is(t, end, "[") || gr__token_is(t, end, "(") || gr__token_is(t, end, "{");
            given |= gr__token_is(t, end, "=") || gr__token_is(t, end, "{");
            end = opens ? gr__token_partner(t, end) + 1 : end + 1;
        }
        if (given)
            gr__edit_fail(w, name, "a __shared__ variable cannot have an initial value");
        if (d.external)
            dynamic_variable(w, &d, name, end, in_function);
        else
            static_variable(w, &d, name, end, in_function);
    }
    gr__edit_lines(w, t->token[d.begin].begin, t->token[d.end].begin);
    w->done = t->token[d.end].end;
    return d.end;
}
