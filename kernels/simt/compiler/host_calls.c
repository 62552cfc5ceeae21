/* host_calls.c - see host_calls.h. */
#include "kernels/simt/compiler/host_calls.h"

#include <stdbool.h>
#include <string.h>

enum { FUNCTIONS = 512 };

/* A function that is declared or defined outside of classes. */
typedef struct {
    int name;             /* token */
    int from, to;         /* its parameters and body; of a declaration from is to */
    bool host;            /* runs on the host alone */
    bool device_only;     /* a kernel, or __device__ without __host__ */
    bool kernel, returns; /* returns: something else than void */
} function;

typedef struct {
    const tokens *t;
    function list[FUNCTIONS];
    int n;
    int variable[FUNCTIONS], variables; /* __device__ and __constant__ ones, not __managed__: tokens */
} functions;

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
        if (i > from && t->token[i - 1].kind == TOKEN_WORD && !gr__token_is_of(t, i - 1, others))
            return i - 1;
        i = gr__token_partner(t, i);
    }
    return -1;
}

/* "__device__ float a[4] = {1}, b;", to the ; or a { at end: its names. */
static void note_variables(functions *f, int from, int end)
{
    const tokens *t = f->t;
    int name = -1;
    if (!has(t, from, end, "gr__device__") || has(t, from, end, "gr__host__"))
        return;
    for (int i = from; i <= end && f->variables < FUNCTIONS; i++) {
        const bool ends = i == end || gr__token_is(t, i, ",") || gr__token_is(t, i, "=") || gr__token_is(t, i, "[");
        if (ends && name >= 0)
            f->variable[f->variables++] = name;
        if (t->token[i].kind == TOKEN_WORD)
            name = i;
        else if (ends && !gr__token_is(t, i, ","))
            for (name = -1; i < end && !gr__token_is(t, i, ",");)
                i = gr__token_is(t, i, "[") || gr__token_is(t, i, "(") ? gr__token_partner(t, i) + 1 : i + 1;
        else if (gr__token_is(t, i, "("))
            i = gr__token_partner(t, i);
    }
}

/* Whether it is the emulator's, which does for kernels what a GPU would. */
static bool is_emulators(const tokens *t, int name)
{
    static const char prefix[] = "gr__simt_";
    const token *k = &t->token[name];
    return k->end - k->begin >= sizeof prefix - 1 && !memcmp(t->text + k->begin, prefix, sizeof prefix - 1);
}

/* What is declared from from to the ; or { at end. */
static void note(functions *f, int from, int end)
{
    const tokens *t = f->t;
    const int name = name_in(t, from, end);
    if (name < 0)
        note_variables(f, from, end);
    if (name < 0 || f->n == FUNCTIONS)
        return;
    const bool kernel = has(t, from, name, "__global__"), device = has(t, from, name, "gr__device__");
    const bool both = has(t, from, name, "gr__host__") && device;
    const bool other = has(t, from, name, "constexpr") || has(t, from, name, "operator") ||
                       has(t, from, name, "typedef") || has(t, from, name, "friend") ||
                       gr__token_is(t, name - 1, "::") || is_emulators(t, name);
    const bool body = gr__token_is(t, end, "{");
    const bool nothing = has(t, from, name, "void") || has(t, from, name, "auto");
    f->list[f->n++] = (function){name,
                                 body ? name + 1 : end,
                                 body ? gr__token_partner(t, end) : end,
                                 !kernel && !device && !other,
                                 (kernel || device) && !both && !gr__token_is(t, name - 1, "::"),
                                 kernel,
                                 kernel && !nothing};
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
        if (!gr__token_same(f->t, f->list[i].name, name))
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
        if (!gr__token_same(t, i, name))
            continue;
        const bool declared = t->token[i - 1].kind == TOKEN_WORD && !gr__token_is_of(t, i - 1, before);
        const bool used = gr__token_is(t, i + 1, "(") || gr__token_is(t, i + 1, "<<<");
        if (!used || declared || gr__token_is(t, i - 1, ">"))
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
    if (t->token[i].kind != TOKEN_WORD || !gr__token_is(t, i + 1, "(") || gr__token_is_of(t, i - 1, before) ||
        (gr__token_is(t, i - 1, "(") && gr__token_is_of(t, i - 2, unevaluated)))
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

/* Whether a name always stands for a kernel. */
static bool is_kernel(const functions *f, int name)
{
    bool found = false;
    for (int i = 0; i < f->n; i++)
        if (gr__token_same(f->t, f->list[i].name, name)) {
            if (!f->list[i].kernel)
                return false;
            found = true;
        }
    return found;
}

static void look_at_kernel_call(const functions *f, const function *in, int i, FILE *out)
{
    static const char *const before[] = {".", "->", "::", NULL};
    const tokens *t = f->t;
    if (t->token[i].kind != TOKEN_WORD || !gr__token_is(t, i + 1, "(") || gr__token_is_of(t, i - 1, before) ||
        !is_kernel(f, i) || !is_called_alone(t, in, i))
        return;
    const token *k = &t->token[i];
    tell_place(t, i, out);
    fprintf(out, ": warning: nvcc refuses this: a kernel is launched, %.*s<<<blocks, threads>>>(...)\n",
            (int)(k->end - k->begin), t->text + k->begin);
}

/* The word before the innermost ( that is open at i: cudaMemcpyToSymbol, sizeof. */
static int callee(const tokens *t, int i)
{
    for (i--; i > 0 && !gr__token_is(t, i, ";") && !gr__token_is(t, i, "{") && !gr__token_is(t, i, "}"); i--) {
        if (gr__token_is(t, i, "("))
            return i - 1;
        if (gr__token_is(t, i, ")") || gr__token_is(t, i, "]"))
            i = gr__token_partner_back(t, i);
    }
    return -1;
}

/* Whether a function may have a variable of its own of that name: int a, b = 3, *c; */
static bool may_be_own(const tokens *t, const function *in, int name)
{
    static const char *const before[] = {"return", "else", "case", "do", NULL};
    for (int i = in->from; i < in->to; i++) {
        if (!gr__token_same(t, i, name))
            continue;
        const bool pointed = gr__token_is(t, i - 1, "*") || gr__token_is(t, i - 1, "&");
        const bool listed = gr__token_is(t, i - 1 - pointed, ",") && callee(t, i) < 0;
        const int type = i - 1 - pointed;
        const bool declared = t->token[type].kind == TOKEN_WORD && !gr__token_is_of(t, type, before) &&
                              !(pointed && gr__token_is(t, type - 1, "="));
        if (listed || declared)
            return true;
    }
    return false;
}

/* The device's variables have another place, and the host's of that name holds nothing: nvcc warns, too. */
static void look_at_variable(const functions *f, const function *in, int i, FILE *out)
{
    static const char *const apart[] = {".", "->", "&", "<", NULL};
    const tokens *t = f->t;
    int variable = -1;
    for (int k = 0; k < f->variables && t->token[i].kind == TOKEN_WORD; k++)
        variable = gr__token_same(t, f->variable[k], i) ? f->variable[k] : variable;
    if (variable < 0 || gr__token_is_of(t, i - 1, apart))
        return;
    const int call = callee(t, i);
    const token *c = &t->token[call < 0 ? i : call], *k = &t->token[i];
    if (call >= 0 && (gr__token_is(t, call, "sizeof") || gr__token_is(t, call, "decltype") ||
                      memmem(t->text + c->begin, c->end - c->begin, "Symbol", 6)))
        return;
    if (may_be_own(t, in, i))
        return;
    tell_place(t, i, out);
    fprintf(out, ": warning: the host has no %.*s, of ", (int)(k->end - k->begin), t->text + k->begin);
    tell_place(t, variable, out);
    fprintf(out, ", on a GPU: cudaMemcpyToSymbol and cudaMemcpyFromSymbol write and read it\n");
}

static void look_at_kernels_and_variables(const functions *f, FILE *out)
{
    const tokens *t = f->t;
    for (int k = 0; k < f->n; k++) {
        const function *in = &f->list[k];
        if (in->returns) {
            tell_place(t, in->name, out);
            fprintf(out, ": warning: nvcc refuses this: a kernel returns void; results go to memory\n");
        }
        for (int i = in->from; i < in->to; i++) {
            look_at_kernel_call(f, in, i, out);
            if (in->host)
                look_at_variable(f, in, i, out);
        }
    }
}

void gr__warn_of_host_calls(const tokens *t, FILE *out)
{
    static functions f;
    f.t = t;
    f.n = f.variables = 0;
    find_functions(&f);
    if (f.n < FUNCTIONS)
        look_at_kernels_and_variables(&f, out);
    for (int k = 0; k < f.n; k++)
        for (int i = f.list[k].from; f.list[k].device_only && f.n < FUNCTIONS && i < f.list[k].to; i++)
            look_at_call(&f, &f.list[k], i, out);
}
