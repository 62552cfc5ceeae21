/* translate.c - see translate.h. */
#include "kernels/simt/compiler/translate.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/simt/compiler/edit.h"
#include "kernels/simt/compiler/host_calls.h"
#include "kernels/simt/compiler/looks.h"

/* What the { at i opens. A namespace, extern "C" and a class are no functions; what lies in a function is one. */
static char scope_of(const gr__edit *w, int i)
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

static void brace(gr__edit *w, int i)
{
    if (gr__token_is(&w->t, i, "}")) {
        w->depth -= w->depth > 0;
    } else if (gr__token_is(&w->t, i, "{")) {
        const char scope = scope_of(w, i);
        if (scope == 'f' && (w->depth == 0 || w->scope[w->depth - 1] != 'f'))
            w->function = i;
        if (w->depth == (int)sizeof w->scope)
            gr__edit_fail(w, i, "too many braces in each other");
        else
            w->scope[w->depth++] = scope;
    }
}

/* A macro could not tell it from the word within __attribute__((__noinline__)), which the C++ library writes. */
static bool is_noinline(const tokens *t, int i)
{
    return gr__token_is(t, i, "__noinline__") && !gr__token_is(t, i - 1, "(") && !gr__token_is(t, i - 1, ",");
}

static void replace(gr__edit *w, int i, const char *by)
{
    gr__edit_copy_until(w, w->t.token[i].begin);
    gr__edit_text(w, by);
    w->done = w->t.token[i].end;
}

/* __attribute__((gr__device__)), whose word is at i: g++ would not take it everywhere. */
static bool is_kind(const tokens *t, int i)
{
    return (gr__token_is(t, i, "gr__device__") || gr__token_is(t, i, "gr__host__")) &&
           gr__token_is(t, i - 3, "__attribute__");
}

/* cudaFree that is not called here, nor declared as a pointer: a function without its caller's place is meant. */
static bool is_free_by_pointer(const tokens *t, int i)
{
    return gr__token_is(t, i, "cudaFree") && !gr__token_is(t, i + 1, "(") && !gr__token_is(t, i - 1, "*") &&
           !gr__token_is(t, i - 1, ".") && !gr__token_is(t, i - 1, "->");
}

/* Behind a void *, const or not, which begins at i; i: there is none. */
static int behind_void(const tokens *t, int i)
{
    int k = i + gr__token_is(t, i, "const");
    if (!gr__token_is(t, k++, "void"))
        return i;
    k += gr__token_is(t, k, "const");
    return gr__token_is(t, k, "*") ? k + 1 : i;
}

/*
 * cudaLaunchKernel((void *)kernel, ...), whose name is at i: the cast goes, with which its parameters would be lost.
 * Returns the last token that is done.
 */
static int launch_by_call(gr__edit *w, int i)
{
    const tokens *t = &w->t;
    const int first = i + 2;
    const bool named = gr__token_is(t, first, "reinterpret_cast") || gr__token_is(t, first, "static_cast");
    const int type = first + 1 + named, end = behind_void(t, type);
    if (!gr__token_is(t, i + 1, "(") || end == type ||
        !(named ? gr__token_is(t, first + 1, "<") && gr__token_is(t, end, ">") && gr__token_is(t, end + 1, "(")
                : gr__token_is(t, first, "(") && gr__token_is(t, end, ")")))
        return i;
    gr__edit_copy_until(w, t->token[first].begin);
    gr__edit_lines(w, t->token[first].begin, t->token[end].end);
    w->done = t->token[end].end;
    return end;
}

/*
 * cudaMalloc(...), whose value somebody looks at, becomes (gr__looks(), cudaMalloc(...)). A comma, so that whatever
 * else has such a name stays what it is.
 */
static void note_looks(gr__edit *w, int i)
{
    const int room = (int)(sizeof w->looked_at / sizeof *w->looked_at);
    if (w->looks && w->looked_at[w->looks - 1] == i) {
        gr__edit_copy_until(w, w->t.token[i].end);
        gr__edit_text(w, ")");
        w->looks--;
    } else if (w->looks < room && gr__is_looked_at(&w->t, i)) {
        const int first = gr__token_is(&w->t, i - 1, "::") ? i - 1 : i;
        gr__edit_copy_until(w, w->t.token[first].begin);
        gr__edit_text(w, "(gr__looks(), ");
        while (!gr__token_is(&w->t, i, "("))
            i++;
        w->looked_at[w->looks++] = gr__token_partner(&w->t, i);
    }
}

static void rewrite(gr__edit *w)
{
    for (int i = 0; i < w->t.count && !w->failed; i++) {
        note_looks(w, i);
        if (gr__token_is(&w->t, i, "<<<") && !gr__token_is(&w->t, i - 1, "operator")) {
            i = gr__edit_launch(w, i);
        } else if (gr__token_is(&w->t, i, "__shared__")) {
            i = gr__edit_shared(w, i);
        } else if (gr__token_is(&w->t, i, "__global__")) {
            gr__edit_kernel(w, i);
            replace(w, i, "          ");
        } else if (is_kind(&w->t, i + 3)) {
            replace(w, i, "");
            i += 5;
            w->done = w->t.token[i].end;
        } else if (gr__token_is(&w->t, i, "cudaLaunchKernel") ||
                   gr__token_is(&w->t, i, "cudaLaunchCooperativeKernel")) {
            i = launch_by_call(w, i);
        } else if (is_free_by_pointer(&w->t, i)) {
            replace(w, i, "gr__cuda_free_by_pointer");
        } else if (is_noinline(&w->t, i)) {
            replace(w, i, "__attribute__((noinline))");
        } else if (!gr__edit_shared_use(w, i)) {
            brace(w, i);
        }
    }
}

char *gr__simt_translate(const char *text, size_t length, size_t *out, char *message, size_t room)
{
    gr__edit w = {.message = message, .message_room = room};
    if (gr__tokens_open(&w.t, text, length)) {
        gr__warn_of_host_calls(&w.t, stderr);
        rewrite(&w);
        gr__edit_copy_until(&w, length);
        gr__edit_text(&w, "\n");
    } else {
        w.out_of_memory = true;
    }
    gr__tokens_close(&w.t);
    if (w.out_of_memory && !w.failed)
        snprintf(message, room, "out of memory");
    if (w.failed || w.out_of_memory) {
        free(w.out);
        return NULL;
    }
    *out = w.length;
    return w.out;
}
