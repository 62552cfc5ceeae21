/* host_calls.c - see host_calls.h. */
#include "kernels/simt/compiler/host_calls.h"

#include <stdbool.h>
#include <string.h>

enum { FUNCTIONS = 512 };

/* A function that is declared or defined outside of classes. */
typedef struct {
    int name;         /* token */
    int from, to;     /* its parameters and body; of a declaration from is to */
    bool host;        /* runs on the host alone */
    bool device_only; /* a kernel, or __device__ without __host__ */
} function;

typedef struct {
    const tokens *t;
    function list[FUNCTIONS];
    int n;
} functions;

static bool same_word(const tokens *t, int a, int b)
{
    const token *x = &t->token[a], *y = &t->token[b];
    return x->kind == TOKEN_WORD && y->kind == TOKEN_WORD && x->end - x->begin == y->end - y->begin &&
           !memcmp(t->text + x->begin, t->text + y->begin, x->end - x->begin);
}

static bool is_one_of(const tokens *t, int i, const char *const *words)
{
    for (; *words; words++)
        if (gr__token_is(t, i, *words))
            return true;
    return false;
}

static bool has(const tokens *t, int from, int to, const char *word)
{
    for (int i = from; i < to; i++)
        if (gr__token_is(t, i, word))
            return true;
    return false;
}

/* The name before the parameters of what is declared from from to end: before its first ( that is no attribute's. */
static int name_in(const tokens *t, int from, int end)
{
    static const char *const others[] = {"__attribute__", "alignas",    "decltype", "noexcept",
                                         "__declspec",    "__typeof__", "explicit", NULL};
    for (int i = from; i < end; i++) {
        if (gr__token_is(t, i, "="))
            return -1;
        if (!gr__token_is(t, i, "("))
            continue;
        if (i > from && t->token[i - 1].kind == TOKEN_WORD && !is_one_of(t, i - 1, others))
            return i - 1;
        i = gr__token_partner(t, i);
    }
    return -1;
}

/* What is declared from from to the ; or { at end. */
static void note(functions *f, int from, int end)
{
    const tokens *t = f->t;
    const int name = name_in(t, from, end);
    if (name < 0 || f->n == FUNCTIONS)
        return;
    const bool kernel = has(t, from, name, "__global__"), device = has(t, from, name, "gr__device__");
    const bool both = has(t, from, name, "gr__host__") && device;
    const bool other = has(t, from, name, "constexpr") || has(t, from, name, "operator") ||
                       has(t, from, name, "typedef") || has(t, from, name, "friend") || gr__token_is(t, name - 1, "::");
    const bool body = gr__token_is(t, end, "{");
    f->list[f->n++] =
        (function){name, body ? name + 1 : end, body ? gr__token_partner(t, end) : end, !kernel && !device && !other,
                   (kernel || device) && !both && !gr__token_is(t, name - 1, "::")};
}

/* Whether what begins at from and has its { at end holds declarations: a namespace, extern "C". */
static bool is_open(const tokens *t, int from, int end)
{
    return has(t, from, end, "namespace") ||
           (gr__token_is(t, from, "extern") && t->token[from + 1].kind == TOKEN_STRING && from + 2 == end);
}

static void find_functions(functions *f)
{
    const tokens *t = f->t;
    for (int i = 0, from = 0; i < t->count; i++) {
        if (t->token[i].kind == TOKEN_DIRECTIVE || gr__token_is(t, i, "}")) {
            from = i + 1;
        } else if (gr__token_is(t, i, "(") || gr__token_is(t, i, "[")) {
            i = gr__token_partner(t, i);
        } else if (gr__token_is(t, i, ";")) {
            note(f, from, i);
            from = i + 1;
        } else if (gr__token_is(t, i, "{") && is_open(t, from, i)) {
            from = i + 1;
        } else if (gr__token_is(t, i, "{")) {
            note(f, from, i);
            i = gr__token_partner(t, i);
            from = i + 1;
        }
    }
}

/* The function of the host alone that a name stands for; NULL: it may stand for something else, too. */
static const function *host_function(const functions *f, int name)
{
    const function *found = NULL;
    for (int i = 0; i < f->n; i++) {
        if (!same_word(f->t, f->list[i].name, name))
            continue;
        if (!f->list[i].host)
            return NULL;
        found = &f->list[i];
    }
    return found;
}

/* Whether the name in a function is always that of a call; declared there it is something else. */
static bool is_called_alone(const tokens *t, const function *in, int name)
{
    static const char *const before[] = {"return", "else", "do", "case", "co_return", "co_yield", NULL};
    for (int i = in->from; i < in->to; i++) {
        if (!same_word(t, i, name))
            continue;
        const bool declared = t->token[i - 1].kind == TOKEN_WORD && !is_one_of(t, i - 1, before);
        if (!gr__token_is(t, i + 1, "(") || declared || gr__token_is(t, i - 1, ">"))
            return false;
    }
    return true;
}

/* Whether a word stands in the text more often than among the tokens, which have nothing of system headers. */
static bool is_elsewhere(const tokens *t, int name)
{
    const char *word = t->text + t->token[name].begin, *end = t->text + t->length;
    const size_t n = t->token[name].end - t->token[name].begin;
    int there = 0, here = 0;
    for (const char *p = t->text; (size_t)(end - p) >= n && (p = memmem(p, (size_t)(end - p), word, n)); p += n)
        there++;
    for (int i = 0; i < t->count; i++)
        for (const char *p = t->text + t->token[i].begin, *stop = t->text + t->token[i].end;
             (size_t)(stop - p) >= n && (p = memmem(p, (size_t)(stop - p), word, n)); p += n)
            here++;
    return there > here;
}

static void tell_place(const tokens *t, int i, FILE *out)
{
    const token *k = &t->token[i];
    fprintf(out, "%.*s:%d", (int)(k->file_length > 2 ? k->file_length - 2 : 0), t->text + k->file_begin + 1, k->line);
}

static void look_at_call(const functions *f, const function *in, int i, FILE *out)
{
    static const char *const before[] = {".", "->", "::", NULL}, *const unevaluated[] = {"sizeof", "decltype", NULL};
    const tokens *t = f->t;
    if (t->token[i].kind != TOKEN_WORD || !gr__token_is(t, i + 1, "(") || is_one_of(t, i - 1, before) ||
        (gr__token_is(t, i - 1, "(") && is_one_of(t, i - 2, unevaluated)))
        return;
    const function *called = host_function(f, i);
    if (!called || !is_called_alone(t, in, i) || is_elsewhere(t, i))
        return;
    const token *k = &t->token[i];
    tell_place(t, i, out);
    fprintf(out, ": warning: nvcc refuses this: %.*s, of ", (int)(k->end - k->begin), t->text + k->begin);
    tell_place(t, called->name, out);
    fprintf(out, ", runs on the host; __device__ before it lets kernels call it\n");
}

void gr__warn_of_host_calls(const tokens *t, FILE *out)
{
    static functions f;
    f.t = t;
    f.n = 0;
    find_functions(&f);
    for (int k = 0; k < f.n; k++)
        for (int i = f.list[k].from; f.list[k].device_only && f.n < FUNCTIONS && i < f.list[k].to; i++)
            look_at_call(&f, &f.list[k], i, out);
}
