/* words.c - see words.h. */
#include "kernels/simt/compiler/words.h"

#include <stdlib.h>
#include <string.h>

void gr__words_add(gr__words *w, const char *word)
{
    if (w->count + 1 >= w->room) {
        char **more = realloc(w->word, (size_t)(2 * w->room + 16) * sizeof *more);
        if (!more)
            abort();
        w->word = more, w->room = 2 * w->room + 16;
    }
    w->word[w->count] = strdup(word);
    w->word[++w->count] = NULL;
}

void gr__words_add_all(gr__words *w, const gr__words *from)
{
    for (int i = 0; i < from->count; i++)
        gr__words_add(w, from->word[i]);
}

void gr__words_free(gr__words *w)
{
    for (int i = 0; i < w->count; i++)
        free(w->word[i]);
    free(w->word);
    *w = (gr__words){0};
}
