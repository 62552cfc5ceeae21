/* tell.c - an experiment before it is run; see tell.h. */
#include "reproduce/tell.h"

#include <string.h>

#include "terminal/text.h"

void tell_list(void)
{
    enum { COLUMN = 18 };
    const char *publication = "";
    print_wrapped(stdout,
                  "Experiments of the publications. 'gradus reproduce NAME' runs one and says whether it comes out as "
                  "published; with --dry-run it shows what it would run.",
                  0, 0);
    for (const experiment *e = experiments; e->name; e++) {
        if (strcmp(e->publication, publication) != 0) {
            printf("\n");
            print_wrapped(stdout, e->publication, 0, 2);
        }
        publication = e->publication;
        printf("  %-*s", COLUMN - 2, e->name);
        print_wrapped(stdout, e->title, COLUMN, COLUMN);
        if (e->command)
            printf("%*s(by hand: with --dry-run it shows the command)\n", COLUMN, "");
        else if (e->timed)
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
    bool any = false;
    for (const arm *a = e->arms; a->folder; a++) {
        if (a->corrected != corrected)
            continue;
        if (!any)
            printf("\n%s\n", corrected ? "Corrected, or asked beyond it" : "As published");
        any = true;
        snprintf(words, sizeof words, "sweep %s --seeds %d", a->words, e->seeds);
        print_command(stdout, words, 2);
    }
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
    if (e->command) {
        printf("\nBy hand\n");
        print_command(stdout, e->command, 2);
    }
    if (e->timed)
        printf("\nIt is about time: only a machine that does nothing else can answer.\n");
}
