/* optimizer_options.c - see optimizer_options.h. */
#include "settings/optimizer_options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Help texts, made once. */
typedef struct {
    char text[512];
    size_t length;
} help_text;

static void say(help_text *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(help_text *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(h->text + h->length, sizeof h->text - h->length, format, args);
    va_end(args);
    h->length += n > 0 ? (size_t)n : 0;
    if (h->length >= sizeof h->text)
        h->length = sizeof h->text - 1;
}

const char *optimizers_with(const char *parameter_name, char text[256])
{
    const char *names[MAX_PARAMETERS] = {NULL};
    int n = 0;
    for (const optimizer *o = optimizers; o->name; o++)
        if (optimizer_takes(o, parameter_name) >= 0)
            names[n++] = o->name;
    return names_text((name_list)NAMES(names), text, 256);
}

static void say_value(help_text *h, const parameter *p, double value)
{
    if (p->type == OPTION_CHOICE)
        say(h, "%s", name_at(p->names, (int)value));
    else
        say(h, "%g", value);
}

static double usual_of(const optimizer *o, const parameter *p)
{
    return o->parameters[optimizer_takes(o, p->name)].usual;
}

/* "0 of sgd, 0.9 of momentum, lars and sam", or one number where all have the same. */
static void say_usual(help_text *h, const parameter *p)
{
    bool told[MAX_PARAMETERS] = {0};
    int groups = 0;
    for (int i = 0; optimizers[i].name; i++) {
        const char *same[MAX_PARAMETERS] = {NULL};
        char text[256];
        int n = 0;
        if (told[i] || optimizer_takes(&optimizers[i], p->name) < 0)
            continue;
        for (int j = i; optimizers[j].name; j++)
            if (optimizer_takes(&optimizers[j], p->name) >= 0 &&
                usual_of(&optimizers[j], p) == usual_of(&optimizers[i], p)) {
                same[n++] = optimizers[j].name;
                told[j] = true;
            }
        say(h, "%s", groups++ ? "; " : "");
        say_value(h, p, usual_of(&optimizers[i], p));
        if (n < optimizers_taking(p->name))
            say(h, " of %s", names_text((name_list)NAMES(same), text, sizeof text));
    }
}

static const char *help_of(const parameter *p, help_text *h)
{
    char text[256];
    say(h, "%s (of %s", p->help, optimizers_with(p->name, text));
    if (p->type != OPTION_FLAG)
        say(h, "; default: %s", p->of_recipe ? "the recipe's, else " : "");
    if (p->default_help)
        say(h, "%s", p->default_help);
    else if (p->type != OPTION_FLAG)
        say_usual(h, p);
    say(h, ")");
    return h->text;
}

static bool has(const option *options, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(options[i].name, name) == 0)
            return true;
    return false;
}

const option *parameter_options(void)
{
    static option options[MAX_PARAMETERS + 1];
    static help_text help[MAX_PARAMETERS];
    int n = 0;
    if (options[0].name)
        return options;
    for (const optimizer *o = optimizers; o->name; o++)
        for (const optimizer_parameter *own = o->parameters; own->parameter; own++) {
            const parameter *p = own->parameter;
            if (n == MAX_PARAMETERS || has(options, n, p->name))
                continue;
            options[n] = (option){.name = p->name,
                                  .metavar = p->metavar,
                                  .type = p->type,
                                  .offset = (size_t)n * sizeof(option_value),
                                  .help = help_of(p, &help[n]),
                                  .low = 1,
                                  .high = p->high,
                                  .names = p->names};
            n++;
        }
    return options;
}

int parameter_place(const char *name)
{
    const option *options = parameter_options();
    int i = 0;
    while (strcmp(options[i].name, name) != 0)
        i++;
    return i;
}

const char *optimizer_help(void)
{
    static help_text h;
    if (h.length > 0)
        return h.text;
    for (const optimizer *o = optimizers; o->name; o++)
        say(&h, "%s%s%s%s%s",
            o == optimizers ? ""
            : o[1].name     ? ", "
                            : " or ",
            o->name, *o->help ? " (" : "", o->help, *o->help ? ")" : "");
    say(&h, " (default: the recipe's)");
    return h.text;
}
