/* command_words.c - the command that makes a sweep again, of its sweep.json and rows; see words.h. */
#include "report/words.h"

#include <stdlib.h>
#include <string.h>

#include "settings/resolved.h"
#include "sources/format.h"
#include "terminal/json_values.h"

/* A blank and a word, quoted for a shell where it needs that. */
static void write_word(FILE *f, const char *word)
{
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:@%+-";
    if (*word && word[strspn(word, plain)] == '\0') {
        fprintf(f, " %s", word);
        return;
    }
    fputs(" '", f);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, f);
    fputc('\'', f);
}

/* The values of a list, which rows alone remember. */
static void write_axis(FILE *f, const axis *x)
{
    char list[AXIS_MAX * (AXIS_WORD + 1)] = "";
    const bool plans = strcmp(x->option->name, "augment") == 0;
    int length = 0;
    for (int i = 0; i < x->n; i++)
        length +=
            snprintf(list + length, sizeof list - (size_t)length, "%s%s", i ? plans ? ";" : "," : "", x->words[i]);
    fprintf(f, " --%s", x->option->name);
    write_word(f, list);
}

static void write_value(FILE *f, const option *o, const json_t *value)
{
    char text[64];
    fprintf(f, " --%s", o->name);
    if (json_is_string(value))
        write_word(f, json_string_value(value));
    if (json_is_number(value)) {
        snprintf(text, sizeof text, "%.15g", json_number_value(value));
        write_word(f, text);
    }
}

/* The options of a table that identity has otherwise than usual. */
static void write_options(FILE *f, const option *options, const json_t *identity, const json_t *usual, const axes *a)
{
    for (const option *o = options; o->name; o++) {
        const json_t *value = json_object_get(identity, o->name);
        const axis *list = NULL;
        for (int i = 0; i < a->n; i++)
            list = a->list[i].option == o ? &a->list[i] : list;
        if (list)
            write_axis(f, list);
        else if (value && !json_is_null(value) && !json_is_false(value) &&
                 !json_equal(value, json_object_get(usual, o->name)))
            write_value(f, o, value);
    }
}

static void write_grid(FILE *f, const grid *g, bool scheduled)
{
    for (int i = 0; i < g->n_batches && !scheduled; i++)
        fprintf(f, "%s%lld", i ? "," : " --batch ", (long long)g->batches[i]);
    for (int i = 0; i < g->optimizers.n; i++)
        fprintf(f, "%s%s", i ? "," : " --optimizer ", g->optimizers.list[i]->name);
    fprintf(f, " --seeds %d", g->n_seeds);
}

json_t *text_json(const char *text)
{
    json_t *words = json_string(text);
    return words ? words : json_string("(a name that is not UTF-8)");
}

/* Ends what was written to a stream in memory. NULL: there was no memory for it. */
static json_t *close_text(FILE *f, char **text)
{
    json_t *words = fclose(f) == 0 && *text ? text_json(*text) : NULL;
    free(*text);
    return words;
}

json_t *command_words(const runs *r, const grid *g, const recipe *of)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    const settings nothing = {0}, plain = settings_shared(&nothing, of);
    json_t *usual = json_object();
    options_json(settings_batches, &plain, usual);
    options_json(settings_protocol, &plain, usual);
    fprintf(f, "gradus sweep %s", of->name);
    if (strcmp(text_at(r->identity, "data"), "procedural") == 0)
        fputs(" --procedural", f);
    else if (of->format->cure) /* data that may be missing */
        fputs(" --data D", f);
    write_grid(f, g, json_is_string(json_object_get(r->identity, "batch-schedule")));
    write_options(f, settings_batches, r->identity, usual, g->axes);
    write_options(f, settings_protocol, r->identity, usual, g->axes);
    write_options(f, parameter_options(), r->identity, usual, g->axes);
    fputs(" --out", f);
    write_word(f, r->folder);
    json_decref(usual);
    return close_text(f, &text);
}

json_t *report_words(const char *const *folders, const char *out)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fputs("gradus report", f);
    for (; *folders; folders++)
        write_word(f, *folders);
    if (out) {
        fputs(" --out", f);
        write_word(f, out);
    }
    return close_text(f, &text);
}
