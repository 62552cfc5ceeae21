/* file_sums.c - see file_sums.h. */
#include "sources/file_sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 8 };

void file_sums_add(file_sums *s, uint32_t sum)
{
    if (s->n == s->room) {
        const int64_t room = s->room ? 2 * s->room : 256;
        uint32_t *grown = realloc(s->list, (size_t)room * sizeof *grown);
        s->lost |= !grown;
        if (!grown)
            return;
        s->list = grown;
        s->room = room;
    }
    s->list[s->n++] = sum;
}

void file_sums_taken(void *sums, const char *line)
{
    const char *last = strrchr(line, ' ');
    if (last)
        file_sums_add(sums, (uint32_t)strtoul(last, NULL, 16));
}

void file_sums_add_set(file_sums *s, const gr_dataset *set, const file_sums *of)
{
    s->lost |= of->lost;
    for (int64_t i = 0; i < gr_dataset_size(set); i++) {
        const int64_t row = gr_dataset_row(set, i);
        if (row < of->n)
            file_sums_add(s, of->list[row]);
    }
}

char *file_sums_text(const file_sums *s)
{
    char *text = s->n > 0 && !s->lost ? malloc((size_t)s->n * DIGITS + 1) : NULL;
    for (int64_t i = 0; text && i < s->n; i++)
        snprintf(text + i * DIGITS, DIGITS + 1, "%08x", (unsigned)s->list[i]);
    return text;
}

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sort(file_sums *s)
{
    if (s->n > 0)
        qsort(s->list, (size_t)s->n, sizeof *s->list, by_value);
}

file_sums file_sums_read(const char *text)
{
    file_sums s = {0};
    char word[DIGITS + 1] = "";
    for (; text && strlen(text) >= DIGITS; text += DIGITS) {
        memcpy(word, text, DIGITS);
        file_sums_add(&s, (uint32_t)strtoul(word, NULL, 16));
    }
    sort(&s);
    return s;
}

bool file_sums_has(const file_sums *s, uint32_t sum)
{
    return s->n > 0 && bsearch(&sum, s->list, (size_t)s->n, sizeof *s->list, by_value);
}

int64_t file_sums_shared(const file_sums *s, const gr_dataset *set, const file_sums *of)
{
    int64_t n = 0;
    file_sums sorted = {0};
    for (int64_t i = 0; i < s->n; i++)
        file_sums_add(&sorted, s->list[i]);
    sort(&sorted);
    for (int64_t i = 0; i < gr_dataset_size(set); i++) {
        const int64_t row = gr_dataset_row(set, i);
        n += row < of->n && file_sums_has(&sorted, of->list[row]);
    }
    file_sums_free(&sorted);
    return n;
}

void file_sums_free(file_sums *s)
{
    free(s->list);
    *s = (file_sums){0};
}
