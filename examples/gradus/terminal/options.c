/* options.c - see options.h. */
#include "terminal/options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "terminal/help.h"
#include "terminal/json_values.h"
#include "terminal/values.h"

enum { MAX_NAMES = 96 };

const option *options_of(const option_group *group)
{
    return group->made ? group->made() : group->options;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* What the type of an option wants. */
static void expected(const option *o, char *text, size_t size)
{
    if (o->type == OPTION_TEXT)
        snprintf(text, size, "must not be empty");
    else if (o->type == OPTION_COUNT && o->high == INT64_MAX)
        snprintf(text, size, "must be a whole number of at least %lld", (long long)o->low);
    else if (o->type == OPTION_COUNT)
        snprintf(text, size, "must be a whole number from %lld to %lld%s%s", (long long)o->low, (long long)o->high,
                 o->names.first ? ", or " : "", o->names.first ? name_at(o->names, 0) : "");
    else if (o->type == OPTION_POSITIVE)
        snprintf(text, size, "must be a number above 0");
    else if (o->type == OPTION_AMOUNT)
        snprintf(text, size, "must be a number of at least 0");
    else if (o->type == OPTION_BYTES)
        snprintf(text, size, "must be a number of bytes such as 800000000, 512M or 1.5G");
    else {
        int length = snprintf(text, size, "must be one of");
        for (int i = 0; name_at(o->names, i); i++)
            length += snprintf(text + length, size - (size_t)length, " %s", name_at(o->names, i));
    }
}

static bool read_choice(const char *text, name_list names, choice *c)
{
    int place = name_find(names, text);
    *c = (choice){place >= 0, place >= 0 ? place : 0};
    return c->given;
}

static bool read_count(const option *o, const char *text, int64_t *value)
{
    const int word = o->names.first ? name_find(o->names, text) : -1;
    if (word >= 0)
        *value = -1 - word;
    return word >= 0 || parse_count(text, o->low, o->high, value);
}

/* False: text is no value of this option. */
static bool read_value(const option *o, const char *text, option_value *v)
{
    switch (o->type) {
    case OPTION_FLAG:
        return v->flag = true;
    case OPTION_TEXT:
        v->text = text;
        return *text != '\0';
    case OPTION_CHOICE:
        return read_choice(text, o->names, &v->choice);
    case OPTION_COUNT:
        return read_count(o, text, &v->count);
    case OPTION_POSITIVE:
        return parse_positive(text, &v->positive);
    case OPTION_AMOUNT:
        return parse_amount(text, &v->amount);
    case OPTION_BYTES:
        return parse_bytes(text, &v->count);
    }
    return false;
}

/* Settings lie in their struct as the type that they are. */
static size_t size_of(option_type type)
{
    static const size_t sizes[] = {
        [OPTION_FLAG] = sizeof(bool),     [OPTION_TEXT] = sizeof(const char *), [OPTION_CHOICE] = sizeof(choice),
        [OPTION_COUNT] = sizeof(int64_t), [OPTION_POSITIVE] = sizeof(double),   [OPTION_AMOUNT] = sizeof(amount),
        [OPTION_BYTES] = sizeof(int64_t)};
    return sizes[type];
}

static option_value value_of(const option *o, const void *values)
{
    option_value v = {0};
    memcpy(&v, (const char *)values + o->offset, size_of(o->type));
    return v;
}

void option_forget(const option *o, void *values)
{
    memset((char *)values + o->offset, 0, size_of(o->type));
}

/* What to say of several values in place of one. */
static const char *advice_on_list(const gradus_command *c, const option *o, const char *text)
{
    const bool is_list = o->type != OPTION_TEXT && strchr(text, ',');
    return !is_list                        ? ""
           : strcmp(c->name, "train") == 0 ? "; 'gradus sweep' runs lists"
           : strcmp(c->name, "sweep") == 0 ? "; this option takes no list"
                                           : "";
}

bool option_set(const gradus_command *c, const option *o, void *values, const char *text)
{
    option_value v = {0};
    if (read_value(o, text, &v)) {
        memcpy((char *)values + o->offset, &v, size_of(o->type));
        return true;
    }
    char what[256];
    expected(o, what, sizeof what);
    const bool in_parts = o->parts && strchr(text, ':');
    const char *near = o->type == OPTION_CHOICE && !in_parts ? nearest(text, o->names) : NULL;
    complain(GR_USAGE, c->name, "--%s \"%s\": it %s%s%s%s%s%s%s", o->name, text, what, near ? "; did you mean " : "",
             near ? near : "", near ? "?" : "", in_parts ? "; " : "", in_parts ? o->parts : "",
             advice_on_list(c, o, text));
    return false;
}

/* --- parsing ------------------------------------------------------------------------------------------------------ */

/* The option of that name; *values becomes the struct that it lies in. */
static const option *find(const gradus_command *c, const char *name, size_t length, void **values)
{
    for (const option_group *g = c->groups; g->title; g++)
        for (const option *o = options_of(g); o->name; o++)
            if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) {
                *values = (char *)*values + g->base;
                return o;
            }
    return NULL;
}

static options_end refuse(const gradus_command *c)
{
    fprintf(stderr, "See 'gradus %s --help'.\n", c->name);
    return OPTIONS_REFUSED;
}

static options_end unknown(const gradus_command *c, const char *name, int length)
{
    const char *names[MAX_NAMES + 1] = {"help"};
    int n = 1;
    for (const option_group *g = c->groups; g->title; g++)
        for (const option *o = options_of(g); o->name && n < MAX_NAMES; o++)
            names[n++] = o->name;
    char word[64];
    snprintf(word, sizeof word, "%.*s", length, name);
    const char *near = nearest(word, (name_list)NAMES(names));
    complain(GR_USAGE, c->name, "there is no option --%s%s%s%s", word, near ? "; did you mean --" : "",
             near ? near : "", near ? "?" : "");
    return refuse(c);
}

/* One "--name", "--name=value" or "--name value" at argv[*i]. */
static options_end parse_option(const gradus_command *c, void *values, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const option *o = find(c, name, length, &values);
    if (!o)
        return unknown(c, name, (int)length);
    const char *text = equals ? equals + 1 : NULL;
    if (o->type == OPTION_FLAG && text) {
        complain(GR_USAGE, c->name, "--%s takes no value, \"%s\" was given", o->name, text);
        return refuse(c);
    }
    if (o->type != OPTION_FLAG && !text) {
        if (*i + 1 >= argc) {
            complain(GR_USAGE, c->name, "--%s needs a value: --%s %s", o->name, o->name, o->metavar);
            return refuse(c);
        }
        text = argv[++*i];
    }
    return option_set(c, o, values, text) ? OPTIONS_GOOD : refuse(c);
}

options_end options_parse(const gradus_command *c, void *values, int argc, char **argv, const char **operand)
{
    int most = !c->operand ? 0 : c->operands ? c->operands : 1, n = 0;
    for (int i = 0; i < most || i == 0; i++)
        operand[i] = NULL;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            help_print(c);
            return OPTIONS_HELPED;
        }
        if (word[0] == '-' && word[1] == '-') {
            options_end end = parse_option(c, values, argc, argv, &i);
            if (end != OPTIONS_GOOD)
                return end;
        } else if (word[0] == '-') {
            const bool is_file = most > 0 && access(word, F_OK) == 0;
            complain(GR_USAGE, c->name, "there is no option %s; options begin with two dashes%s%s", word,
                     is_file ? ", and the file of that name is ./" : "", is_file ? word : "");
            return refuse(c);
        } else if (n == most) {
            if (most == 1)
                complain(GR_USAGE, c->name,
                         "\"%s\": %s is \"%s\" already, and all else goes by options; names with spaces want quotes",
                         word, c->operand, operand[0]);
            else if (most > 1)
                complain(GR_USAGE, c->name, "\"%s\": that is one too many; %d are taken", word, most);
            else
                complain(GR_USAGE, c->name, "\"%s\": nothing but options is expected here", word);
            return refuse(c);
        } else {
            operand[n++] = word;
        }
    }
    return OPTIONS_GOOD;
}

/* --- and back ----------------------------------------------------------------------------------------------------- */

amount option_number(const option *o, const void *values)
{
    const option_value v = value_of(o, values);
    switch (o->type) {
    case OPTION_FLAG:
        return (amount){v.flag, v.flag};
    case OPTION_CHOICE:
        return (amount){v.choice.given, v.choice.value};
    case OPTION_POSITIVE:
        return (amount){v.positive > 0, v.positive};
    case OPTION_AMOUNT:
        return v.amount;
    case OPTION_COUNT:
    case OPTION_BYTES:
        return (amount){v.count != 0, (double)v.count};
    case OPTION_TEXT:
        break;
    }
    return (amount){0};
}

void option_default(const option *options, void *values, const char *name, const char *text)
{
    option_value v = {0};
    for (const option *o = options; o->name; o++)
        if (strcmp(o->name, name) == 0 && !option_number(o, values).given &&
            !(o->type == OPTION_TEXT && value_of(o, values).text) && read_value(o, text, &v))
            memcpy((char *)values + o->offset, &v, size_of(o->type));
}

/* The setting as text that read_value reads as the same value. False: it was not given. */
static bool value_text(const option *o, const void *values, char *text, size_t size)
{
    const option_value v = value_of(o, values);
    if (o->type == OPTION_TEXT)
        return v.text && snprintf(text, size, "%s", v.text) < (int)size;
    if (o->type == OPTION_CHOICE)
        snprintf(text, size, "%s", name_at(o->names, v.choice.value));
    else if (o->type == OPTION_COUNT && v.count < 0 && o->names.first)
        snprintf(text, size, "%s", name_at(o->names, (int)(-1 - v.count)));
    else if (o->type == OPTION_COUNT || o->type == OPTION_BYTES)
        snprintf(text, size, "%lld", (long long)v.count);
    else
        snprintf(text, size, "%.17g", option_number(o, values).value);
    return option_number(o, values).given;
}

bool options_unparse(const option *options, const void *values, char **argv, int *argc, int max)
{
    for (; options->name; options++) {
        char text[4096], name[64];
        if (!value_text(options, values, text, sizeof text))
            continue;
        snprintf(name, sizeof name, "--%s", options->name);
        if (*argc + 2 > max || !(argv[(*argc)++] = strdup(name)))
            return false;
        if (options->type != OPTION_FLAG && !(argv[(*argc)++] = strdup(text)))
            return false;
    }
    return true;
}

void options_json(const option *options, const void *values, json_t *object)
{
    for (const option *o = options; o->name; o++) {
        const option_value v = value_of(o, values);
        char text[4096];
        json_t *value = json_null();
        if (o->type == OPTION_FLAG)
            value = json_boolean(v.flag);
        else if (value_text(o, values, text, sizeof text))
            value = o->type == OPTION_POSITIVE || o->type == OPTION_AMOUNT ? json_real(option_number(o, values).value)
                    : o->type == OPTION_COUNT || o->type == OPTION_BYTES   ? json_integer(v.count)
                                                                           : json_plain(text);
        json_object_set_new(object, o->name, value);
    }
}
