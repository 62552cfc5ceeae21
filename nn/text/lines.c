/* lines.c - a model's text, line by line, in words whose places are known. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "nn/text/text.h"

bool gr__text_fail(gr_text *t, const gr_word *word, const char *format, ...)
{
    char text[512];
    const gr_line *l = &t->line;
    const gr_word *last = l->n > 0 ? &l->words[l->n - 1] : NULL;
    const int column = word ? word->column : last ? last->column + (int)strlen(last->text) : 1;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return gr__fail(t->ctx, GR_BAD_DATA, "%s:%d:%d: %s", t->name, l->number, column, text);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool ends_word(char c)
{
    return c == '\0' || c == '\n' || c == '#' || c == '{' || c == '}' || is_blank(c);
}

/* The word at t->next, whose length is not 0, into the line. False: recorded. */
static bool take(gr_text *t, int column)
{
    gr_line *l = &t->line;
    size_t length = 0;
    gr_word here = {.column = column};
    while (!ends_word(t->next[length])) {
        const unsigned char c = (unsigned char)t->next[length];
        here.column = column + (int)length;
        if (c < '!' || c > '~')
            return gr__text_fail(t, &here, "a byte 0x%02x; outside of comments a model is plain ASCII text", c);
        if (++length == GR__WORD_SIZE)
            return gr__text_fail(t, &(gr_word){.column = column}, "a word of more than %d characters",
                                 GR__WORD_SIZE - 1);
    }
    length = length ? length : 1; /* a brace */
    here.column = column;
    if (l->n == GR__LINE_WORDS)
        return gr__text_fail(t, &here, "more than %d words in a line; a line is one layer", GR__LINE_WORDS);
    memcpy(here.text, t->next, length);
    l->words[l->n++] = here;
    t->next += length;
    return true;
}

/* The words of the line at t->next. False: recorded. */
static bool split(gr_text *t)
{
    const char *start = t->next;
    t->line = (gr_line){.number = ++t->lines};
    while (*t->next && *t->next != '\n' && *t->next != '#') {
        if (is_blank(*t->next))
            t->next++;
        else if (!take(t, (int)(t->next - start) + 1))
            return false;
    }
    t->next += strcspn(t->next, "\n");
    t->next += *t->next == '\n';
    return true;
}

bool gr__text_line(gr_text *t)
{
    while (*t->next) {
        if (!split(t))
            return false;
        if (t->line.n > 0)
            return true;
    }
    t->line = (gr_line){.number = t->lines};
    return false;
}

const gr_word *gr__text_word(gr_text *t)
{
    return t->line.at < t->line.n ? &t->line.words[t->line.at++] : NULL;
}

bool gr__text_is_next(const gr_text *t, const char *word)
{
    return t->line.at < t->line.n && strcmp(t->line.words[t->line.at].text, word) == 0;
}

bool gr__text_end(gr_text *t, const char *what)
{
    const gr_word *left = gr__text_word(t);
    return !left || gr__text_fail(t, left, "\"%s\" behind %s; a line is one layer", left->text, what);
}
