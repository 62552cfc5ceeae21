/* tell.c - an experiment before it is run; see tell.h. */
#include "reproduce/tell.h"

#include <string.h>

#include "reproduce/each_seed.h"
#include "terminal/text.h"

void tell_list(void)
{
    enum { COLUMN = 18 };
    const char *publication = "";
    print_wrapped(stdout,
                  "Experiments of the publications. 'gradus reproduce NAME' runs one and says whether it comes out as "
                  "published; with --dry-run it shows what it would run.",
                  0, 0);
    const experiment *e;
    for (int i = 0; (e = experiment_at(i)) != NULL; i++) {
        if (strcmp(e->publication, publication) != 0) {
            printf("\n");
            print_wrapped(stdout, e->publication, 0, 2);
        }
        publication = e->publication;
        printf("  %-*s", COLUMN - 2, e->name);
        print_wrapped(stdout, e->title, COLUMN, COLUMN);
        if (e->timed)
            printf("%*s(times: on a machine that does nothing else)\n", COLUMN, "");
    }
}

static void print_item(const char *text)
{
    printf("  - ");
    print_wrapped(stdout, text, 4, 4);
}

static void print_arms(const experiment *e, bool corrected)
{
    char words[512];
    bool any = false, each = false;
    for (const arm *a = e->arms; a->folder; a++) {
        if (a->corrected != corrected)
            continue;
        if (!any)
            printf("\n%s\n", corrected ? "Corrected, or asked beyond it" : "As published");
        any = true;
        if (each_seed_is(a))
            each_seed_text(a, "reproduced", 1, words, sizeof words);
        else
            snprintf(words, sizeof words, "sweep %s --seeds %d", a->words, e->seeds);
        print_command(stdout, words, 2);
        each = each || each_seed_is(a);
    }
    if (each)
        printf("  (and so for seeds 2 to %d)\n", e->seeds);
}

void tell_experiment(const experiment *e)
{
    printf("%s: ", e->name);
    print_wrapped(stdout, e->title, (int)strlen(e->name) + 2, 2);
    printf("After: ");
    print_wrapped(stdout, e->publication, 7, 7);
    printf("\n");
    print_wrapped(stdout, e->says, 0, 0);
    printf("\nWhat is odd or silent in it\n");
    for (const char *const *o = e->oddities; *o; o++)
        print_item(*o);
    print_arms(e, false);
    print_arms(e, true);
    if (e->timed)
        printf("\nIt is about time: only a machine that does nothing else can answer.\n");
}
