/* turned.c - see turned.h. */
#include "sources/turned.h"

#include "terminal/text.h"

void turned_note(turned *t, const char *file)
{
    if (t->n++ == 0)
        snprintf(t->first, sizeof t->first, "%s", file);
}

void turned_tell(const turned *t, FILE *f)
{
    char n[32];
    if (t->n == 0)
        return;
    fprintf(f, "%s picture%s not upright as stored, by %s Exif tag, such as ", thousands_text(t->n, n),
            t->n == 1 ? " is" : "s are", t->n == 1 ? "its" : "their");
    print_plain(f, t->first);
    fprintf(f, ": such tags are not applied; turn the pixels, by mogrify -auto-orient for instance\n");
}
