/* recipe.c - finding recipes, what optimizers take from them, and telling them. */
#include "recipes/recipe.h"

#include <string.h>

const char *const optimizer_names[] = {"sgd", "momentum", "adam", "adamw", "lars", "sam", "prox", NULL};
const char *const lr_schedule_names[] = {
    [GR_CONSTANT] = "constant", [GR_COSINE] = "cosine",         [GR_STEPS] = "steps",
    [GR_LINEAR] = "linear",     [GR_TRIANGULAR] = "triangular", NULL};
const char *const lr_rule_names[] = {[GR_LR_NONE] = "none", [GR_LR_LINEAR] = "linear", [GR_LR_SQRT] = "sqrt", NULL};
const char *const last_batch_names[] = {
    [GR_KEEP] = "keep", [GR_DROP] = "drop", [GR_PAD] = "pad", [GR_WRAP] = "wrap", NULL};

const recipe *recipe_find(const char *name, const char *command)
{
    for (const recipe *r = recipes; name && r->name; r++)
        if (strcmp(r->name, name) == 0)
            return r;
    const char *near = name ? nearest(name, recipe_names) : NULL;
    if (!name)
        complain(GR_USAGE, command, "which recipe? 'gradus train --list' shows them");
    else if (near)
        complain(GR_USAGE, command, "there is no recipe \"%s\"; did you mean %s?", name, near);
    else
        complain(GR_USAGE, command, "there is no recipe \"%s\"; 'gradus train --list' shows them", name);
    return NULL;
}

int recipe_channels(const recipe *r)
{
    return r->format == RECIPE_IDX || r->format == RECIPE_TABLE ? 1 : 3;
}

/* What the recipe itself has for sgd or adam. */
static recipe_optimizer own(const recipe *r, const char *name)
{
    int i = 0;
    while (i + 1 < RECIPE_OPTIMIZERS && strcmp(r->optimizers[i].name, name) != 0)
        i++;
    return r->optimizers[i];
}

recipe_optimizer recipe_optimizer_of(const recipe *r, const char *name)
{
    if (strcmp(name, "sgd") == 0 || strcmp(name, "adam") == 0)
        return own(r, name);
    recipe_optimizer o = own(r, strcmp(name, "adamw") == 0 ? "adam" : "sgd");
    o.name = name;
    if (strcmp(name, "adamw") == 0) {
        o.weight_decay = 0.01; /* PyTorch's default */
    } else if (strcmp(name, "prox") == 0) {
        o.momentum = o.weight_decay = 0;
        o.nesterov = false;
    } else {
        o.momentum = o.momentum > 0 ? o.momentum : 0.9;
    }
    if (strcmp(name, "lars") == 0) {
        o.lr = 1; /* its rates are relative to the weights, not to the network */
        o.nesterov = false;
    }
    return o;
}

/* Place of a name in a list; 0 for none, or one that the list lacks. */
static int place_of(const char *name, const char *const *names)
{
    for (int i = 0; name && names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return 0;
}

unsigned optimizer_takes(const char *name)
{
    static const unsigned takes[] = {TAKES_MOMENTUM | TAKES_NESTEROV | TAKES_DECAY,
                                     TAKES_MOMENTUM | TAKES_NESTEROV | TAKES_DECAY,
                                     TAKES_ADAM | TAKES_DECAY,
                                     TAKES_ADAM | TAKES_DECAY,
                                     TAKES_MOMENTUM | TAKES_DECAY | TAKES_TRUST,
                                     TAKES_MOMENTUM | TAKES_NESTEROV | TAKES_DECAY | TAKES_RHO,
                                     TAKES_GAMMA};
    return takes[place_of(name, optimizer_names)];
}

gr_last_batch last_batch_of(const char *name)
{
    return (gr_last_batch)place_of(name, last_batch_names);
}

gr_schedule_kind lr_schedule_of(const char *name)
{
    return (gr_schedule_kind)place_of(name, lr_schedule_names);
}

gr_lr_rule lr_rule_of(const char *name)
{
    return (gr_lr_rule)place_of(name, lr_rule_names);
}

void recipe_list(void)
{
    for (const recipe *r = recipes; r->name; r++)
        printf("%-16s %s\n", r->name, r->title);
}

void recipe_print_oddities(const recipe *r, FILE *f)
{
    for (const char *const *line = r->oddities; *line; line++) {
        fprintf(f, "  - ");
        print_wrapped(f, *line, 4, 4);
    }
}

void recipe_explain(const recipe *r)
{
    printf("%s: %s\nAfter: %s\n\n", r->name, r->title, r->source);
    for (const char *const *line = r->words; *line; line++) {
        printf("  ");
        print_wrapped(stdout, *line, 2, 13);
    }
    printf("\nWhat is odd or silent in the publication\n");
    recipe_print_oddities(r, stdout);
}
