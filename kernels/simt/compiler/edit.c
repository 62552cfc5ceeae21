/* edit.c - see edit.h. */
#include "kernels/simt/compiler/edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gr__edit_append(gr__edit *w, const char *text, size_t length)
{
    if (w->length + length + 1 > w->room) {
        const size_t room = 2 * (w->length + length) + 256;
        char *more = realloc(w->out, room);
        if (!more) {
            w->out_of_memory = true;
            return;
        }
        w->out = more, w->room = room;
    }
    memcpy(w->out + w->length, text, length);
    w->length += length;
    w->out[w->length] = '\0';
}

void gr__edit_text(gr__edit *w, const char *text)
{
    gr__edit_append(w, text, strlen(text));
}

void gr__edit_fail(gr__edit *w, int at, const char *what)
{
    const token *k = &w->t.token[at];
    if (!w->failed)
        snprintf(w->message, w->message_room, "%.*s:%d: error: %s", (int)(k->file_length > 2 ? k->file_length - 2 : 0),
                 w->t.text + k->file_begin + 1, k->line, what);
    w->failed = true;
}

void gr__edit_copy_until(gr__edit *w, size_t begin)
{
    gr__edit_append(w, w->t.text + w->done, begin - w->done);
    w->done = begin;
}

void gr__edit_tokens(gr__edit *w, int first, int end)
{
    for (int i = first; i < end; i++) {
        const token *k = &w->t.token[i];
        if (k->kind == TOKEN_DIRECTIVE)
            continue;
        gr__edit_append(w, w->t.text + k->begin, k->end - k->begin);
        gr__edit_text(w, " ");
    }
}

void gr__edit_lines(gr__edit *w, size_t begin, size_t end)
{
    const char *text = w->t.text;
    for (size_t i = begin; i < end; i++) {
        if (text[i] != '\n')
            continue;
        gr__edit_text(w, "\n");
        const char *stop = memchr(text + i + 1, '\n', end - i - 1);
        if (i + 1 < end && text[i + 1] == '#' && stop)
            gr__edit_append(w, text + i + 1, (size_t)(stop - text) - i - 1);
    }
}

/* "kernel<float>" as a text of C: its tokens, quotes and backslashes escaped. */
void gr__edit_quoted(gr__edit *w, int first, int end)
{
    gr__edit_text(w, "\"");
    for (int i = first; i < end; i++) {
        const token *k = &w->t.token[i];
        for (size_t c = k->begin; c < k->end && k->kind != TOKEN_DIRECTIVE; c++) {
            if (w->t.text[c] == '"' || w->t.text[c] == '\\')
                gr__edit_text(w, "\\");
            gr__edit_append(w, w->t.text + c, 1);
        }
        if (gr__token_is(&w->t, i, ","))
            gr__edit_text(w, " ");
    }
    gr__edit_text(w, "\"");
}
