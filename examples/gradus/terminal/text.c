/* text.c - see text.h. */
#include "terminal/text.h"

#include <stdbool.h>
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
