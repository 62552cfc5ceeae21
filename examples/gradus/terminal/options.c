/* options.c - see options.h. */
#include "terminal/options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 64, HELP_COLUMN = 25 };

const char *const filter_names[] = {"decodable", "none", "nonzero", "keras-jfif", NULL};
const char *const device_names[] = {"cpu", "cuda", "simt", "ref", NULL};
const char *const precision_names[] = {"fp32", "fp64", "fp16", "bf16", "tf32", NULL}; /* as gr_precision from 1 on */

/* --- values ------------------------------------------------------------------------------------------------------- */

bool parse_count(const char *text, int64_t low, int64_t high, int64_t *value)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    bool plain = isdigit((unsigned char)text[0]) || text[0] == '-'; /* strtoll would also take blanks and a plus */
    if (!plain || *end || errno || n < low || n > high)
        return false;
    *value = n;
    return true;
}

static bool parse_amount(const char *text, amount *a)
{
    char *end;
    a->value = strtod(text, &end);
    a->given = (isdigit((unsigned char)text[0]) || text[0] == '.') && !*end && isfinite(a->value);
    return a->given;
}

static bool parse_positive(const char *text, double *value)
{
    amount a;
    bool good = parse_amount(text, &a) && a.value > 0;
    *value = a.value;
    return good;
}

static bool parse_bytes(const char *text, int64_t *value)
{
    static const char units[] = "KMGT";
    char *end;
    double number = strtod(text, &end);
    if (!isdigit((unsigned char)text[0]) || end == text)
        return false;
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (unit) {
        number = ldexp(number, 10 * (int)(unit - units + 1));
        end++;
    }
    if (*end || !isfinite(number) || number < 1 || number > 9e18)
        return false;
    *value = (int64_t)number;
    return true;
}

static bool one_of(const char *text, const char *const *choices, const char **value)
{
    for (; *choices; choices++) {
        if (strcmp(text, *choices) == 0) {
            *value = *choices;
            return true;
        }
    }
    return false;
}

static void expected(const option *o, char *text, size_t size)
{
    if (o->type == OPTION_TEXT)
        snprintf(text, size, "must not be empty");
    else if (o->type == OPTION_COUNT && o->high == INT64_MAX)
        snprintf(text, size, "must be a whole number of at least %lld", (long long)o->low);
    else if (o->type == OPTION_COUNT)
        snprintf(text, size, "must be a whole number from %lld to %lld", (long long)o->low, (long long)o->high);
    else if (o->type == OPTION_POSITIVE)
        snprintf(text, size, "must be a number above 0");
    else if (o->type == OPTION_AMOUNT)
        snprintf(text, size, "must be a number of at least 0");
    else if (o->type == OPTION_BYTES)
        snprintf(text, size, "must be a number of bytes such as 800000000, 512M or 1.5G");
    else {
        int length = snprintf(text, size, "must be one of");
        for (const char *const *c = o->choices; *c; c++)
            length += snprintf(text + length, size - (size_t)length, " %s", *c);
    }
}

static bool set_value(const command_text *command, const option *o, void *values, const char *text)
{
    void *p = (char *)values + o->offset;
    bool good = false;
    switch (o->type) {
    case OPTION_FLAG:
        *(bool *)p = good = true;
        break;
    case OPTION_TEXT:
        *(const char **)p = text;
        good = *text != '\0';
        break;
    case OPTION_CHOICE:
        good = one_of(text, o->choices, p);
        break;
    case OPTION_COUNT:
        good = parse_count(text, o->low, o->high, p);
        break;
    case OPTION_POSITIVE:
        good = parse_positive(text, p);
        break;
    case OPTION_AMOUNT:
        good = parse_amount(text, p);
        break;
    case OPTION_BYTES:
        good = parse_bytes(text, p);
        break;
    }
    if (good)
        return true;
    char what[256];
    expected(o, what, sizeof what);
    const char *near = o->type == OPTION_CHOICE ? nearest(text, o->choices) : NULL;
    complain(GR_USAGE, command->name, "--%s \"%s\": it %s%s%s%s", o->name, text, what, near ? "; did you mean " : "",
             near ? near : "", near ? "?" : "");
    return false;
}

/* --- help --------------------------------------------------------------------------------------------------------- */

/* The lines of text, first before the first one and rest before the others. */
static void print_lines(const char *text, const char *first, const char *rest)
{
    for (const char *prefix = first; *text; prefix = rest) {
        int length = (int)strcspn(text, "\n");
        printf("%sgradus %.*s\n", prefix, length, text);
        text += length + (text[length] == '\n');
    }
}

static void print_option(const option *o)
{
    char left[64];
    int length =
        snprintf(left, sizeof left, "  --%s%s%s", o->name, o->metavar ? " " : "", o->metavar ? o->metavar : "");
    printf("%s", left);
    if (length >= HELP_COLUMN - 1)
        printf("\n%*s", HELP_COLUMN, "");
    else
        printf("%*s", HELP_COLUMN - length, "");
    print_wrapped(stdout, o->help, HELP_COLUMN, HELP_COLUMN);
}

static void print_help(const command_text *command, const option_group *groups)
{
    print_lines(command->usage, "Usage: ", "       ");
    putchar('\n');
    print_wrapped(stdout, command->about, 0, 0);
    for (; groups->title; groups++) {
        printf("\n%s\n", groups->title);
        for (const option *o = groups->options; o->name; o++)
            print_option(o);
    }
    printf("\nExamples\n");
    print_lines(command->examples, "  ", "  ");
}

/* --- parsing ------------------------------------------------------------------------------------------------------ */

static const option *find(const option_group *groups, const char *name, size_t length, void **values)
{
    for (; groups->title; groups++) {
        for (const option *o = groups->options; o->name; o++) {
            if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) {
                *values = groups->values;
                return o;
            }
        }
    }
    return NULL;
}

static options_end refuse(const command_text *command)
{
    fprintf(stderr, "See 'gradus %s --help'.\n", command->name);
    return OPTIONS_REFUSED;
}

static options_end unknown(const command_text *command, const option_group *groups, const char *name, int length)
{
    const char *names[MAX_NAMES + 1] = {"help"};
    int n = 1;
    for (; groups->title; groups++)
        for (const option *o = groups->options; o->name && n < MAX_NAMES; o++)
            names[n++] = o->name;
    char word[64];
    snprintf(word, sizeof word, "%.*s", length, name);
    const char *near = nearest(word, names);
    complain(GR_USAGE, command->name, "there is no option --%s%s%s%s", word, near ? "; did you mean --" : "",
             near ? near : "", near ? "?" : "");
    return refuse(command);
}

/* One "--name", "--name=value" or "--name value" at argv[*i]. */
static options_end parse_option(const command_text *command, const option_group *groups, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    void *values;
    const option *o = find(groups, name, length, &values);
    if (!o)
        return unknown(command, groups, name, (int)length);
    const char *text = equals ? equals + 1 : NULL;
    if (o->type == OPTION_FLAG && text) {
        complain(GR_USAGE, command->name, "--%s takes no value, \"%s\" was given", o->name, text);
        return refuse(command);
    }
    if (o->type != OPTION_FLAG && !text) {
        if (*i + 1 >= argc) {
            complain(GR_USAGE, command->name, "--%s needs a value: --%s %s", o->name, o->name, o->metavar);
            return refuse(command);
        }
        text = argv[++*i];
    }
    return set_value(command, o, values, text) ? OPTIONS_GOOD : refuse(command);
}

options_end options_parse(const command_text *command, const option_group *groups, int argc, char **argv,
                          const char **operand)
{
    int most = !command->operand ? 0 : command->operands ? command->operands : 1, n = 0;
    for (int i = 0; i < most || i == 0; i++)
        operand[i] = NULL;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help(command, groups);
            return OPTIONS_HELPED;
        }
        if (word[0] == '-' && word[1] == '-') {
            options_end end = parse_option(command, groups, argc, argv, &i);
            if (end != OPTIONS_GOOD)
                return end;
        } else if (word[0] == '-') {
            complain(GR_USAGE, command->name, "there is no option %s; options begin with two dashes", word);
            return refuse(command);
        } else if (n == most) {
            complain(GR_USAGE, command->name, "\"%s\": %s", word,
                     most == 1  ? "one recipe at a time"
                     : most > 1 ? "that is one too many"
                                : "nothing but options is expected here");
            return refuse(command);
        } else {
            operand[n++] = word;
        }
    }
    return OPTIONS_GOOD;
}

/* --- and back ----------------------------------------------------------------------------------------------------- */

/* The setting as text that set_value reads as the same value. False: it was not given. */
static bool value_text(const option *o, const void *values, char *text, size_t size)
{
    const void *p = (const char *)values + o->offset;
    switch (o->type) {
    case OPTION_FLAG:
        return *(const bool *)p;
    case OPTION_TEXT:
    case OPTION_CHOICE:
        return *(const char *const *)p && snprintf(text, size, "%s", *(const char *const *)p) < (int)size;
    case OPTION_COUNT:
    case OPTION_BYTES:
        snprintf(text, size, "%lld", (long long)*(const int64_t *)p);
        return *(const int64_t *)p != 0;
    case OPTION_POSITIVE:
        snprintf(text, size, "%.17g", *(const double *)p);
        return *(const double *)p != 0;
    case OPTION_AMOUNT:
        snprintf(text, size, "%.17g", ((const amount *)p)->value);
        return ((const amount *)p)->given;
    }
    return false;
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
    for (; options->name; options++) {
        const void *p = (const char *)values + options->offset;
        char text[4096];
        json_t *value = json_null();
        if (options->type == OPTION_FLAG)
            value = json_boolean(*(const bool *)p);
        else if (value_text(options, values, text, sizeof text))
            value = options->type == OPTION_POSITIVE ? json_real(*(const double *)p)
                    : options->type == OPTION_AMOUNT ? json_real(((const amount *)p)->value)
                    : options->type == OPTION_COUNT || options->type == OPTION_BYTES ? json_integer(*(const int64_t *)p)
                                                                                     : json_string(text);
        json_object_set_new(object, options->name, value);
    }
}
