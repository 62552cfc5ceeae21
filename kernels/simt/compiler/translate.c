/* translate.c - see translate.h. What is rewritten is collected as edits of the text, then written out in one pass. */
#include "kernels/simt/compiler/translate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/compiler/tokens.h"

/* Text that grows; once memory is out it stays as it is. */
typedef struct {
    char *text;
    size_t length, room;
    bool out_of_memory;
} buffer;

static void append(buffer *b, const char *text, size_t length)
{
    if (b->length + length + 1 > b->room) {
        const size_t room = 2 * (b->length + length) + 256;
        char *more = realloc(b->text, room);
        if (!more) {
            b->out_of_memory = true;
            return;
        }
        b->text = more, b->room = room;
    }
    memcpy(b->text + b->length, text, length);
    b->length += length;
    b->text[b->length] = '\0';
}

static void append_text(buffer *b, const char *text)
{
    append(b, text, strlen(text));
}

/* One translation: the output so far stands for text[0 .. done). */
typedef struct {
    tokens t;
    buffer out;
    size_t done;
    char *message;
    size_t room;
    bool failed;
    char scope[512]; /* what each open brace belongs to: 'f' a function or something in one, 'o' other */
    int depth;
} work;

static void fail(work *w, int at, const char *what)
{
    const token *k = &w->t.token[at];
    if (!w->failed)
        snprintf(w->message, w->room, "%.*s:%d: error: %s", (int)(k->file_length > 2 ? k->file_length - 2 : 0),
                 w->t.text + k->file_begin + 1, k->line, what);
    w->failed = true;
}

/* Copies the text up to the beginning of token i. */
static void copy_until(work *w, size_t begin)
{
    append(&w->out, w->t.text + w->done, begin - w->done);
    w->done = begin;
}

/* Tokens first to end as one line, with a space between two. */
static void append_tokens(work *w, int first, int end)
{
    for (int i = first; i < end; i++) {
        const token *k = &w->t.token[i];
        if (k->kind == TOKEN_DIRECTIVE)
            continue;
        append(&w->out, w->t.text + k->begin, k->end - k->begin);
        append_text(&w->out, " ");
    }
}

/* The line feeds and directives of the text from begin to end: what keeps the lines where they are. */
static void append_lines(work *w, size_t begin, size_t end)
{
    const char *text = w->t.text;
    for (size_t i = begin; i < end; i++) {
        if (text[i] != '\n')
            continue;
        append_text(&w->out, "\n");
        const char *stop = memchr(text + i + 1, '\n', end - i - 1);
        if (i + 1 < end && text[i + 1] == '#' && stop)
            append(&w->out, text + i + 1, (size_t)(stop - text) - i - 1);
    }
}

/* "kernel<float>" as a text of C: its tokens, quotes and backslashes escaped. */
static void append_name(work *w, int first, int end)
{
    append_text(&w->out, "\"");
    for (int i = first; i < end; i++) {
        const token *k = &w->t.token[i];
        for (size_t c = k->begin; c < k->end && k->kind != TOKEN_DIRECTIVE; c++) {
            if (w->t.text[c] == '"' || w->t.text[c] == '\\')
                append_text(&w->out, "\\");
            append(&w->out, w->t.text + c, 1);
        }
        if (gr__token_is(&w->t, i, ","))
            append_text(&w->out, " ");
    }
    append_text(&w->out, "\"");
}

/* --- launches ----------------------------------------------------------------------------------------------------- */

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

/* kernel<<<config>>>, i at <<<. Returns its last token. */
static int launch(work *w, int i)
{
    const tokens *t = &w->t;
    const int begin = kernel_begin(t, i), end = config_end(t, i);
    if (begin < 0 || end == t->count || !gr__token_is(t, end + 1, "(")) {
        fail(w, i, "a launch is kernel<<<grid, block>>>(arguments), and this is none");
        return i;
    }
    if (t->token[begin].begin < w->done) {
        fail(w, i, "a launch within a launch");
        return i;
    }
    const bool typed = wants_types(t, end + 1);
    copy_until(w, t->token[begin].begin);
    append_lines(w, t->token[begin].begin, t->token[i].begin);
    append_text(&w->out, typed ? "gr__launch_typed(gr__configure(" : "gr__launch_by(gr__configure(");
    append_name(w, begin, i);
    append_text(&w->out, ", ");
    w->done = t->token[i].end;
    copy_until(w, t->token[end].begin);
    append_text(&w->out, typed ? "), " : "), [=](auto... gr__a) { ");
    append_tokens(w, begin, i);
    append_text(&w->out, typed ? ")" : "(gr__a...); })");
    w->done = t->token[end].end;
    return end;
}

/* --- shared memory ------------------------------------------------------------------------------------------------ */

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
static void append_type(work *w, const declaration *d)
{
    int end = d->name;
    while (gr__token_is(&w->t, end - 1, "*"))
        end--;
    for (int i = d->begin; i < end;) {
        const int behind = skip_specifier(&w->t, i);
        if (behind == i)
            append_tokens(w, i, i + 1);
        i = behind == i ? i + 1 : behind;
    }
}

static void append_place(work *w, int at)
{
    char line[32];
    const token *k = &w->t.token[at];
    snprintf(line, sizeof line, ", %d", k->line);
    if (k->file_length)
        append(&w->out, w->t.text + k->file_begin, k->file_length);
    else
        append_text(&w->out, "\"\"");
    append_text(&w->out, line);
}

/* "STARS name" from first to name, or the dimensions from name + 1 to end. */
static void append_stars(work *w, int name)
{
    for (int i = name - 1; gr__token_is(&w->t, i, "*"); i--)
        append_text(&w->out, "*");
}

static void static_variable(work *w, const declaration *d, int name, int end)
{
    append_text(&w->out, "typedef ");
    append_type(w, d);
    append_stars(w, name);
    append_text(&w->out, " gr__type_");
    append_tokens(w, name, end);
    append_text(&w->out, "; static const gr__simt_variable gr__variable_");
    append_tokens(w, name, name + 1);
    append_text(&w->out, "= {");
    append_name(w, name, name + 1);
    append_text(&w->out, ", sizeof(gr__type_");
    append_tokens(w, name, name + 1);
    append_text(&w->out, "), ");
    append_place(w, name);
    append_text(&w->out, "}; gr__type_");
    append_tokens(w, name, name + 1);
    append_text(&w->out, "&");
    append_tokens(w, name, name + 1);
    append_text(&w->out, "= *(gr__type_");
    append_tokens(w, name, name + 1);
    append_text(&w->out, "*)gr__simt_shared(&gr__variable_");
    append_tokens(w, name, name + 1);
    append_text(&w->out, "); ");
}

/* T name[][8]: a pointer to rows of 8. Outside of functions an object that is looked up at each use. */
static void dynamic_variable(work *w, const declaration *d, int name, int end, bool in_function)
{
    if (!gr__token_is(&w->t, name + 1, "[") || !gr__token_is(&w->t, name + 2, "]")) {
        fail(w, name, "an extern __shared__ variable is an array without a size: extern __shared__ float s[];");
        return;
    }
    append_text(&w->out, "typedef ");
    append_type(w, d);
    append_stars(w, name);
    append_text(&w->out, " gr__type_");
    append_tokens(w, name, name + 1);
    append_tokens(w, name + 3, end);
    append_text(&w->out, in_function ? "; gr__type_" : "; static const gr__dynamic_array<gr__type_");
    append_tokens(w, name, name + 1);
    append_text(&w->out, in_function ? "*" : "> ");
    append_tokens(w, name, name + 1);
    if (in_function) {
        append_text(&w->out, "= (gr__type_");
        append_tokens(w, name, name + 1);
        append_text(&w->out, "*)gr__simt_dynamic_shared_if_any(");
        append_place(w, name);
        append_text(&w->out, "); ");
    } else {
        append_text(&w->out, "= {}; ");
    }
}

/* A declaration with __shared__ at i. Returns the ; that ends it. */
static int shared(work *w, int i)
{
    const tokens *t = &w->t;
    const declaration d = read_declaration(t, i);
    const bool in_function = w->depth > 0 && w->scope[w->depth - 1] == 'f';
    if (d.name < 0 || d.end >= t->count || t->token[d.begin].begin < w->done) {
        fail(w, i, "this __shared__ is no declaration that the emulator understands");
        return i;
    }
    if (!in_function && !d.external) {
        fail(w, i, "a __shared__ variable outside of a function: declare it in the kernel");
        return i;
    }
    copy_until(w, t->token[d.begin].begin);
    for (int name = d.name, end; name >= 0; name = end < d.end ? find_name(t, end + 1, d.end) : -1) {
        for (end = name + 1; end < d.end && !gr__token_is(t, end, ",");)
            end = gr__token_is(t, end, "[") || gr__token_is(t, end, "(") ? gr__token_partner(t, end) + 1 : end + 1;
        if (gr__token_is(t, name + 1, "=") || gr__token_is(t, end - 1, "}"))
            fail(w, name, "a __shared__ variable cannot have an initial value");
        if (d.external)
            dynamic_variable(w, &d, name, end, in_function);
        else
            static_variable(w, &d, name, end);
    }
    append_lines(w, t->token[d.begin].begin, t->token[d.end].begin);
    w->done = t->token[d.end].end;
    return d.end;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

/* What the { at i opens. A namespace, extern "C" and a class are no functions; what lies in a function is one. */
static char scope_of(const work *w, int i)
{
    if (w->depth > 0 && w->scope[w->depth - 1] == 'f')
        return 'f';
    for (int k = i - 1; k >= 0; k--) {
        const tokens *t = &w->t;
        if (gr__token_is(t, k, ";") || gr__token_is(t, k, "{") || gr__token_is(t, k, "}"))
            return 'o';
        if (gr__token_is(t, k, ")"))
            return 'f';
        if (gr__token_is(t, k, "namespace") || gr__token_is(t, k, "struct") || gr__token_is(t, k, "class") ||
            gr__token_is(t, k, "union") || gr__token_is(t, k, "enum") || t->token[k].kind == TOKEN_STRING)
            return 'o';
    }
    return 'o';
}

static void brace(work *w, int i)
{
    if (gr__token_is(&w->t, i, "}")) {
        w->depth -= w->depth > 0;
    } else if (gr__token_is(&w->t, i, "{")) {
        const char scope = scope_of(w, i);
        if (w->depth == (int)sizeof w->scope)
            fail(w, i, "too many braces in each other");
        else
            w->scope[w->depth++] = scope;
    }
}

static void rewrite(work *w)
{
    for (int i = 0; i < w->t.count && !w->failed; i++) {
        if (gr__token_is(&w->t, i, "<<<") && !gr__token_is(&w->t, i - 1, "operator")) {
            i = launch(w, i);
        } else if (gr__token_is(&w->t, i, "__shared__")) {
            i = shared(w, i);
        } else if (gr__token_is(&w->t, i, "__global__")) {
            copy_until(w, w->t.token[i].begin);
            append_text(&w->out, "          ");
            w->done = w->t.token[i].end;
        } else {
            brace(w, i);
        }
    }
}

char *gr__simt_translate(const char *text, size_t length, size_t *out, char *message, size_t room)
{
    work w = {.message = message, .room = room};
    if (gr__tokens_open(&w.t, text, length)) {
        rewrite(&w);
        copy_until(&w, length);
        append_text(&w.out, "\n");
    } else {
        w.out.out_of_memory = true;
    }
    gr__tokens_close(&w.t);
    if (w.out.out_of_memory && !w.failed)
        snprintf(message, room, "out of memory");
    if (w.failed || w.out.out_of_memory) {
        free(w.out.text);
        return NULL;
    }
    *out = w.out.length;
    return w.out.text;
}
