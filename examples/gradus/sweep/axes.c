/* axes.c - see axes.h. */
#include "sweep/axes.h"

#include <stdlib.h>
#include <string.h>

#include "commands.h"

/* What a sweep's identity is about: rows of other pictures cannot stand side by side. */
static const char *const never_lists[] = {"resize",       "split-seed",   "val-share", "test-share", "filter",
                                          "init-weights", "replace-head", "freeze",    "lr-scale",   "freeze-after",
                                          "whiten",       "budget",       "tta",       NULL};

/* An option of the protocol that may be a list. NULL: there is none of this name. */
static const option *find_option(const char *name, size_t length)
{
    for (const char *const *no = never_lists; *no; no++)
        if (strlen(*no) == length && strncmp(*no, name, length) == 0)
            return NULL;
    for (const option *o = settings_protocol; o->name; o++)
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0 && o->type != OPTION_FLAG)
            return o;
    return NULL;
}

/* Whether every one of the words between commas is a whole plan. */
static bool are_plans(const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, ",");
        if (!(length == 4 && strncmp(text, "none", 4) == 0) && !(length == 9 && strncmp(text, "published", 9) == 0))
            return false;
        text += length + (text[length] == ',');
    }
    return true;
}

static int refuse(const char *name, const char *word, const char *why)
{
    return complain(GR_USAGE, "sweep", "--%s: \"%s\" %s", name, word, why);
}

static int add_word(axis *x, const char *word, size_t length)
{
    char text[AXIS_WORD];
    snprintf(text, sizeof text, "%.*s", (int)length, word);
    if (length >= AXIS_WORD || x->n == AXIS_MAX)
        return refuse(x->option->name, text, length >= AXIS_WORD ? "is too long for a list" : "is one too many");
    for (int i = 0; i < x->n; i++)
        if (strcmp(x->words[i], text) == 0)
            return refuse(x->option->name, text, "stands there twice");
    settings scratch = {0};
    if (!option_set(&sweep_command, x->option, &scratch, text))
        return GR_USAGE;
    strcpy(x->words[x->n++], text);
    return 0;
}

/* One option's text, if it is a list. */
static int take(axes *a, const option *o, char *value)
{
    const char *text = value;
    const bool plans = strcmp(o->name, "augment") == 0;
    const char between[2] = {plans && !are_plans(text) ? ';' : ',', '\0'};
    int code = 0;
    for (int i = 0; i < a->n; i++)
        if (a->list[i].option == o)
            return refuse(o->name, text, strchr(text, *between) ? "is its second list" : "is given beside its list");
    if (!strchr(text, *between))
        return 0;
    if (a->n == MAX_AXES)
        return refuse(o->name, text, "is one list too many");
    axis *x = &a->list[a->n++];
    *x = (axis){.option = o};
    for (size_t length = 0; code == 0; text += length + 1) {
        length = strcspn(text, between);
        code = add_word(x, text, length);
        if (!text[length])
            break;
    }
    value[strcspn(value, between)] = '\0'; /* the first of them is what is left */
    return code;
}

/* As the table of the options has them: the order on the command line says nothing. */
static int in_order(const void *a, const void *b)
{
    const axis *x = a, *y = b;
    return (x->option > y->option) - (x->option < y->option);
}

int axes_take(axes *a, int argc, char **argv)
{
    *a = (axes){0};
    int code = 0;
    for (int i = 1; i < argc && code == 0; i++) {
        if (strncmp(argv[i], "--", 2) != 0)
            continue;
        const size_t length = strcspn(argv[i] + 2, "=");
        const option *o = find_option(argv[i] + 2, length);
        const bool beside = argv[i][2 + length] == '\0'; /* "--lr 0.1", not "--lr=0.1" */
        if (o && (!beside || i + 1 < argc))
            code = take(a, o, beside ? argv[++i] : argv[i] + 2 + length + 1);
    }
    qsort(a->list, (size_t)a->n, sizeof *a->list, in_order);
    return code;
}

int axes_count(const axes *a)
{
    int n = 1;
    for (int i = 0; i < a->n; i++)
        n *= a->list[i].n;
    return n;
}

/* The value of axis i in a variant; the last axis turns fastest. */
static const char *word_of(const axes *a, int variant, int i)
{
    for (int j = a->n - 1; j > i; j--)
        variant /= a->list[j].n;
    return a->list[i].words[variant % a->list[i].n];
}

void axes_apply(const axes *a, int variant, settings *s)
{
    for (int i = 0; i < a->n; i++)
        option_set(&sweep_command, a->list[i].option, s, word_of(a, variant, i));
}

const char *axes_name(const axes *a, int variant, char text[VARIANT_NAME])
{
    int length = 0;
    text[0] = '\0';
    for (int i = 0; i < a->n; i++)
        length += snprintf(text + length, (size_t)(VARIANT_NAME - length), "%s%s=%s", i ? " " : "",
                           a->list[i].option->name, word_of(a, variant, i));
    return text;
}

/*
 * The length of the first "lr=0.01" of a variant's name, whose value may have blanks in it, as a file's name has: it
 * ends where the next option begins. *o: the option, NULL where it is none.
 */
static size_t value_length(const char *name, const option **o)
{
    const size_t word = strcspn(name, "=");
    *o = name[word] ? find_option(name, word) : NULL;
    for (const char *blank = strchr(name, ' '); blank; blank = strchr(blank + 1, ' ')) {
        const size_t next = strcspn(blank + 1, " =");
        if (blank[1 + next] == '=' && find_option(blank + 1, next))
            return (size_t)(blank - name);
    }
    return strlen(name);
}

/* A value in a variant's name. */
typedef struct {
    const option *option;
    const char *text;
    size_t length;
} named_value;

const char *axes_ordered(const char *name, char text[VARIANT_NAME])
{
    named_value list[MAX_AXES];
    int n = 0, used = 0;
    for (const char *at = name; *at; n++) {
        named_value v = {.text = at};
        v.length = value_length(at, &v.option);
        if (n == MAX_AXES || !v.option)
            return name;
        int i = n;
        for (; i > 0 && list[i - 1].option > v.option; i--)
            list[i] = list[i - 1];
        list[i] = v;
        at += v.length + (at[v.length] == ' ');
    }
    text[0] = '\0';
    for (int i = 0; i < n && used < VARIANT_NAME; i++)
        used += snprintf(text + used, (size_t)(VARIANT_NAME - used), "%s%.*s", i ? " " : "", (int)list[i].length,
                         list[i].text);
    return used < VARIANT_NAME ? text : name;
}

/* One "lr=0.01" of option o. */
static int add_value(axes *a, const option *o, const char *word, size_t length)
{
    const size_t name = strcspn(word, "=");
    if (!o)
        return complain(GR_BAD_DATA, "sweep merge", "a row's variant is \"%.*s\", which is no option", (int)length,
                        word);
    int i = 0;
    while (i < a->n && a->list[i].option != o)
        i++;
    if (i == MAX_AXES)
        return complain(GR_BAD_DATA, "sweep merge", "rows of more than %d lists", MAX_AXES);
    axis *x = &a->list[i];
    if (i == a->n)
        a->list[a->n++] = (axis){.option = o};
    for (int j = 0; j < x->n; j++)
        if (strlen(x->words[j]) == length - name - 1 && strncmp(x->words[j], word + name + 1, length - name - 1) == 0)
            return 0;
    return add_word(x, word + name + 1, length - name - 1) ? GR_BAD_DATA : 0;
}

int axes_add(axes *a, const char *name)
{
    int code = 0;
    while (*name && code == 0) {
        const option *o;
        const size_t length = value_length(name, &o);
        code = add_value(a, o, name, length);
        name += length + (name[length] == ' ');
    }
    return code;
}
