/* tokens.c - see tokens.h. Line markers are those of gcc: # LINE "FILE" FLAGS, flag 3 for a system header. */
#include "kernels/simt/compiler/tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Where the reader stands. */
typedef struct {
    tokens *t;
    size_t at;
    int line, room;
    size_t file_begin, file_length;
    bool system;
} reader;

static char look(const reader *r, size_t ahead)
{
    return r->at + ahead < r->t->length ? r->t->text[r->at + ahead] : '\0';
}

static bool add(reader *r, token_kind kind, size_t end)
{
    if (r->t->count + 1 >= r->room) {
        const int room = 2 * r->room + 1024;
        token *more = realloc(r->t->token, (size_t)room * sizeof *more);
        if (!more)
            return false;
        r->t->token = more, r->room = room;
    }
    r->t->token[r->t->count++] = (token){kind, r->at, end, r->file_begin, r->file_length, r->line};
    return true;
}

/* The end of the line that at lies in: at its line feed, or the end of the text. */
static size_t line_end(const reader *r)
{
    const char *end = memchr(r->t->text + r->at, '\n', r->t->length - r->at);
    return end ? (size_t)(end - r->t->text) : r->t->length;
}

/* Flag of a line marker, among those from p to stop. */
static bool has_flag(const char *p, const char *stop, char flag)
{
    return p < stop && memchr(p, flag, (size_t)(stop - p));
}

/*
 * A line marker sets file and line of the next line. False: the directive is another one. Flags 1 and 2 enter and leave
 * a header; without them flag 3 says that a word comes from a system header's macro.
 */
static bool read_marker(reader *r, size_t end)
{
    const char *p = r->t->text + r->at + 1, *stop = r->t->text + end;
    while (p < stop && *p == ' ')
        p++;
    if (p == stop || !isdigit((unsigned char)*p))
        return false;
    r->line = atoi(p) - 1; /* the marker's own line feed counts */
    const char *quote = memchr(p, '"', (size_t)(stop - p));
    if (!quote)
        return true;
    const char *close = quote + 1;
    while (close < stop && *close != '"')
        close += *close == '\\' ? 2 : 1;
    r->file_begin = (size_t)(quote - r->t->text);
    r->file_length = (size_t)(close + 1 - quote);
    if (has_flag(close + 1, stop, '1') || has_flag(close + 1, stop, '2'))
        r->system = has_flag(close + 1, stop, '3');
    return true;
}

/* The character behind a quoted text that begins at at. */
static size_t quoted_end(const reader *r, char quote)
{
    size_t i = r->at + 1;
    while (i < r->t->length && r->t->text[i] != quote && r->t->text[i] != '\n')
        i += r->t->text[i] == '\\' ? 2 : 1;
    return i < r->t->length ? i + 1 : r->t->length;
}

/* The same for R"name( ... )name", whose R stands at prefix characters from at. */
static size_t raw_end(const reader *r, size_t prefix)
{
    const char *open = r->t->text + r->at + prefix + 1, *end = r->t->text + r->t->length; /* at the quote */
    const char *bracket = memchr(open, '(', (size_t)(end - open));
    const size_t name = bracket ? (size_t)(bracket - open - 1) : 0;
    for (const char *p = bracket; p && p + name + 1 < end; p++)
        if (*p == ')' && !memcmp(p + 1, open + 1, name) && p[1 + name] == '"')
            return (size_t)(p + name + 2 - r->t->text);
    return r->t->length;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 128;
}

/* A word, or a text with a prefix: L"x", u8R"(x)". */
static bool read_word(reader *r)
{
    size_t end = r->at;
    while (end < r->t->length && in_word(r->t->text[end]))
        end++;
    const size_t letters = end - r->at;
    const char next = end < r->t->length ? r->t->text[end] : '\0';
    if (letters <= 3 && (next == '"' || next == '\'') && strchr("LuUR", r->t->text[r->at])) {
        const bool raw = r->t->text[end - 1] == 'R' && next == '"';
        const size_t first = r->at;
        size_t stop = raw ? raw_end(r, letters - 1) : 0;
        if (!raw) {
            r->at = end;
            stop = quoted_end(r, next);
            r->at = first;
        }
        return add(r, TOKEN_STRING, stop);
    }
    return add(r, TOKEN_WORD, end);
}

static bool read_number(reader *r)
{
    size_t end = r->at + 1;
    for (char c;
         end < r->t->length && (c = r->t->text[end], in_word(c) || c == '.' || c == '\'' || c == '+' || c == '-');
         end++)
        if ((c == '+' || c == '-') && !strchr("eEpP", r->t->text[end - 1]))
            break;
    return add(r, TOKEN_NUMBER, end);
}

/* Marks of one character but for those that matter here: :: -> <<< >>>. */
static bool read_mark(reader *r)
{
    static const char *const longer[] = {"<<<", ">>>", "::", "->", NULL};
    for (int i = 0; longer[i]; i++) {
        const size_t n = strlen(longer[i]);
        if (r->at + n <= r->t->length && !memcmp(r->t->text + r->at, longer[i], n))
            return add(r, TOKEN_MARK, r->at + n);
    }
    return add(r, TOKEN_MARK, r->at + 1);
}

/* One token, and the reader behind it. */
static bool read_token(reader *r)
{
    const char c = look(r, 0);
    bool good;
    if (c == '"' || c == '\'')
        good = add(r, TOKEN_STRING, quoted_end(r, c));
    else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)look(r, 1))))
        good = read_number(r);
    else
        good = in_word(c) ? read_word(r) : read_mark(r);
    if (good) {
        const size_t end = r->t->token[r->t->count - 1].end;
        for (; r->at < end; r->at++)
            r->line += r->t->text[r->at] == '\n';
    }
    return good;
}

/* A line of a system header, or one that begins with #. */
static bool read_line(reader *r, bool directive)
{
    const size_t end = line_end(r);
    const bool marker = directive && read_marker(r, end);
    const bool good = !directive || marker || r->system || add(r, TOKEN_DIRECTIVE, end);
    r->at = end;
    return good;
}

bool gr__tokens_open(tokens *t, const char *text, size_t length)
{
    reader r = {.t = t, .line = 1};
    bool line_begins = true, good = true;
    *t = (tokens){.text = text, .length = length};
    good = add(&r, TOKEN_END, 0); /* room for the end */
    t->count = 0;
    while (good && r.at < length) {
        const char c = look(&r, 0);
        if (c == '\n') {
            r.at++, r.line++;
            line_begins = true;
        } else if (line_begins && (c == '#' || r.system)) {
            good = read_line(&r, c == '#');
        } else if (isspace((unsigned char)c)) {
            r.at++;
        } else {
            line_begins = false;
            good = read_token(&r);
        }
    }
    if (t->token)
        t->token[t->count] = (token){TOKEN_END, length, length, r.file_begin, r.file_length, r.line};
    return good;
}

void gr__tokens_close(tokens *t)
{
    free(t->token);
    *t = (tokens){0};
}

bool gr__token_is(const tokens *t, int i, const char *spelling)
{
    if (i < 0 || i >= t->count)
        return false;
    const size_t n = t->token[i].end - t->token[i].begin;
    return strlen(spelling) == n && !memcmp(t->text + t->token[i].begin, spelling, n);
}

bool gr__token_is_of(const tokens *t, int i, const char *const *spellings)
{
    for (; *spellings; spellings++)
        if (gr__token_is(t, i, *spellings))
            return true;
    return false;
}

bool gr__token_same(const tokens *t, int a, int b)
{
    const token *x = &t->token[a], *y = &t->token[b];
    return x->kind == TOKEN_WORD && y->kind == TOKEN_WORD && x->end - x->begin == y->end - y->begin &&
           !memcmp(t->text + x->begin, t->text + y->begin, x->end - x->begin);
}

/* +1 for an opening mark, -1 for a closing one, else 0. */
static int nesting(const tokens *t, int i)
{
    const char c = t->token[i].kind == TOKEN_MARK ? t->text[t->token[i].begin] : ' ';
    return (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
}

int gr__token_partner(const tokens *t, int i)
{
    for (int depth = 0; i < t->count; i++) {
        depth += nesting(t, i);
        if (depth == 0)
            return i;
    }
    return t->count;
}

int gr__token_partner_back(const tokens *t, int i)
{
    for (int depth = 0; i >= 0; i--) {
        depth += nesting(t, i);
        if (depth == 0)
            return i;
    }
    return -1;
}
