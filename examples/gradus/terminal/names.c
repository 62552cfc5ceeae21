/* names.c - see names.h. */
#include "terminal/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *name_at(name_list names, int i)
{
    return *(const char *const *)((const char *)names.first + (size_t)i * names.stride);
}

int name_find(name_list names, const char *name)
{
    for (int i = 0; name_at(names, i); i++)
        if (strcmp(name_at(names, i), name) == 0)
            return i;
    return -1;
}

/* Edits (insert, delete, replace) that make a of b: Levenshtein's distance, one row at a time. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    int row[LONGEST + 1], n = (int)strlen(b);
    if (n > LONGEST || strlen(a) > LONGEST)
        return LONGEST;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int least = row[j - 1] < row[j] ? row[j - 1] : row[j];
            row[j] = replaced < least + 1 ? replaced : least + 1;
        }
    }
    return row[n];
}

/* What people call some things that have other names here. */
static const char *const usual_words[][2] = {{"gpu", "cuda"},
                                             {"nvidia", "cuda"},
                                             {"half", "fp16"},
                                             {"float", "fp32"},
                                             {"merge", "sweep merge"},
                                             {"show", "data show"},
                                             {"convert", "weights convert"},
                                             {"test", "evaluate"},
                                             {"version", "--version"}};

static const char *meant(const char *word, name_list names)
{
    for (size_t i = 0; i < sizeof usual_words / sizeof *usual_words; i++)
        if (strcmp(usual_words[i][0], word) == 0 && name_find(names, usual_words[i][1]) >= 0)
            return usual_words[i][1];
    return NULL;
}

const char *nearest(const char *word, name_list names)
{
    const char *best = meant(word, names), *name;
    int length = (int)strlen(word), least = length / 3 > 2 ? length / 3 : 2; /* further away is another word */
    for (int i = 0; !meant(word, names) && (name = name_at(names, i)); i++) {
        bool begins = length >= 3 && strncmp(name, word, (size_t)length) == 0; /* "cats" means cats-vs-dogs */
        int d = begins ? 0 : distance(word, name);
        if (d <= least && d < length) {
            best = name;
            least = d - 1;
        }
    }
    return best;
}

const char *names_text(name_list names, char *text, size_t size)
{
    int length = 0;
    text[0] = '\0';
    for (int i = 0; name_at(names, i) && (size_t)length < size; i++)
        length += snprintf(text + length, size - (size_t)length, "%s%s",
                           i == 0                  ? ""
                           : name_at(names, i + 1) ? ", "
                                                   : " and ",
                           name_at(names, i));
    return text;
}
