/* text.c - see text.h. */
#include "terminal/text.h"

#include <string.h>

const char *bytes_text(double bytes, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; unit++)
        bytes /= 1024;
    snprintf(text, 32, "%.*f %s", unit == 0 ? 0 : bytes < 10 ? 2 : bytes < 100 ? 1 : 0, bytes, units[unit]);
    return text;
}

const char *duration_text(double seconds, char text[32])
{
    int64_t whole = (int64_t)(seconds + 0.5);
    if (seconds < 9.95)
        snprintf(text, 32, "%.1f s", seconds);
    else if (whole < 60)
        snprintf(text, 32, "%d s", (int)whole);
    else if (whole < 3600)
        snprintf(text, 32, "%d min %d s", (int)(whole / 60), (int)(whole % 60));
    else
        snprintf(text, 32, "%lld h %d min", (long long)(whole / 3600), (int)(whole % 3600 / 60));
    return text;
}

const char *thousands_text(int64_t n, char text[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)n), out = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && digits[i - 1] != '-' && (length - i) % 3 == 0)
            text[out++] = ',';
        text[out++] = digits[i];
    }
    text[out] = '\0';
    return text;
}

void print_wrapped(FILE *f, const char *text, int column, int indent)
{
    bool first = true; /* on its line */
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (!first && column + 1 + word > TERMINAL_WIDTH) {
            fprintf(f, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        fprintf(f, "%s%.*s", first ? "" : " ", word, text);
        column += word + !first;
        first = false;
        text += word + (text[word] == ' ');
    }
    fputc('\n', f);
}

void print_command(FILE *f, const char *words, int indent)
{
    int column = fprintf(f, "%*sgradus", indent, "");
    while (*words) {
        const char *next = strstr(words, " --");
        int length = next ? (int)(next - words) : (int)strlen(words);
        if (length > TERMINAL_WIDTH - indent - 6) { /* more than a line holds: word by word */
            next = strchr(words, ' ');
            length = next ? (int)(next - words) : (int)strlen(words);
        }
        if (column + 1 + length + (next ? 2 : 0) > TERMINAL_WIDTH)
            column = fprintf(f, " \\\n%*s", indent + 3, "") - 3; /* 3: what belongs to the line before */
        column += fprintf(f, " %.*s", length, words);
        words += length + (next != NULL);
    }
    fputc('\n', f);
}

/* Bytes at p that a terminal acts upon: a control character of ASCII, or of those that UTF-8 has in two bytes. */
static int control_bytes(const unsigned char *p)
{
    if (*p < ' ' || *p == 0x7f)
        return 1;
    return *p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0 ? 2 : 0;
}

void print_defined(FILE *f, const char *name, const char *value, const char *meaning)
{
    enum { COLUMN = 32 };
    fprintf(f, "  %-15s %12s  ", name, value);
    print_wrapped(f, meaning, COLUMN, COLUMN);
}

void print_plain(FILE *f, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        int bytes = control_bytes(p);
        if (bytes == 0)
            fputc(*p++, f);
        for (; bytes > 0; bytes--)
            fprintf(f, "\\x%02x", *p++);
    }
}

/* A character of UTF-8; one that is none, or that a terminal acts upon, is not shown and takes a column. */
typedef struct {
    int bytes, columns;
    bool shown;
} character;

/* Columns of a letter by its number: roughly those of wcwidth(), which would need a locale. */
static int letter_columns(uint32_t code)
{
    if (code >= 0x300 && code < 0x370)
        return 0;
    const bool wide = (code >= 0x1100 && code < 0x1160) || (code >= 0x2e80 && code < 0xa4d0) ||
                      (code >= 0xac00 && code < 0xd7a4) || (code >= 0xf900 && code < 0xfb00) ||
                      (code >= 0xff00 && code < 0xff61) || (code >= 0x1f300 && code < 0x1fb00) ||
                      (code >= 0x20000 && code < 0x40000);
    return wide ? 2 : 1;
}

static character character_at(const unsigned char *p)
{
    const int bytes = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    uint32_t code = bytes == 1 ? *p : *p & (0x7fu >> bytes);
    if (bytes == 0)
        return (character){1, 1, false};
    for (int i = 1; i < bytes; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return (character){1, 1, false};
        code = code << 6 | (p[i] & 0x3f);
    }
    if (control_bytes(p) > 0)
        return (character){bytes, 1, false};
    return (character){bytes, letter_columns(code), true};
}

int text_columns(const char *text)
{
    int columns = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        const character c = character_at(p);
        columns += c.columns;
        p += c.bytes;
    }
    return columns;
}

void print_in_columns(FILE *f, const char *text, int columns, bool right)
{
    const unsigned char *const begin = (const unsigned char *)text, *end = begin;
    int used = 0;
    for (character c; *end && (c = character_at(end), used + c.columns < columns); end += c.bytes)
        used += c.columns;
    fprintf(f, "%*s", right ? columns - used : 0, "");
    for (const unsigned char *p = begin; p < end;) {
        const character c = character_at(p);
        if (c.shown)
            fwrite(p, 1, (size_t)c.bytes, f);
        else
            fputc('?', f);
        p += c.bytes;
    }
    fprintf(f, "%*s", right ? 0 : columns - used, "");
}
