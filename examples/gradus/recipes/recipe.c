/* recipe.c - finding recipes, what optimizers take from them, and telling them. */
#include "recipes/recipe.h"

#include <string.h>

#include "terminal/complain.h"
#include "terminal/names.h"
#include "terminal/system.h"
#include "terminal/text.h"

const recipe *recipe_find(const char *name, const char *command)
{
    const name_list names = NAMES(recipes);
    const int place = name ? name_find(names, name) : -1;
    if (place >= 0)
        return &recipes[place];
    const char *near = name ? nearest(name, names) : NULL;
    if (!name)
        complain(GR_USAGE, command,
                 "which recipe? 'gradus train --list' shows them; own-pictures is that of "
                 "pictures of your own");
    else if (near)
        complain(GR_USAGE, command, "there is no recipe \"%s\"; did you mean %s?", name, near);
    else if (is_folder(name))
        complain(GR_USAGE, command, "there is no recipe \"%s\"; a folder of pictures of one's own goes by --data %s",
                 name, name);
    else
        complain(GR_USAGE, command, "there is no recipe \"%s\"; 'gradus train --list' shows them", name);
    return NULL;
}

const recipe_optimizer *recipe_optimizer_named(const recipe *r, const char *name)
{
    for (int i = 0; i < RECIPE_OPTIMIZERS; i++)
        if (r->optimizers[i].name && strcmp(r->optimizers[i].name, name) == 0)
            return &r->optimizers[i];
    return NULL;
}

const double *recipe_number(const recipe_optimizer *o, const char *parameter)
{
    for (const recipe_setting *n = o->numbers; n->parameter; n++)
        if (strcmp(n->parameter, parameter) == 0)
            return &n->value;
    return NULL;
}

const char *recipe_name(int i)
{
    return recipes[i].name;
}

void recipe_list(void)
{
    for (const recipe *r = recipes; r->name; r++)
        printf("%-16s %s\n", r->name, r->title);
}

static void print_oddity(const char *line, FILE *f)
{
    fprintf(f, "  - ");
    print_wrapped(f, line, 4, 4);
}

void recipe_print_oddities(const recipe *r, bool by_epochs, FILE *f)
{
    for (const char *const *line = r->oddities; *line; line++)
        print_oddity(*line, f);
    if (r->unequal_updates && by_epochs)
        print_oddity(r->unequal_updates, f);
}

void recipe_explain(const recipe *r)
{
    printf("%s: %s\nAfter: %s\n\n", r->name, r->title, r->source);
    for (const char *const *line = r->words; *line; line++) {
        printf("  ");
        print_wrapped(stdout, *line, 2, 13);
    }
    printf("\nWhat is odd or silent in the publication\n");
    recipe_print_oddities(r, true, stdout);
}
