/* views.c - see views.h. */
#include "settings/views.h"

#include <stdio.h>
#include <string.h>

#include "terminal/values.h"

bool read_views(const char *text, views *v)
{
    char word[32];
    *v = (views){0};
    if (strcmp(text, "none") == 0)
        return true;
    while (next_entry(&text, word)) {
        if (strcmp(word, "flip") == 0 && !v->flip)
            v->flip = true;
        else if (strncmp(word, "shift=", 6) != 0 || v->shift || !parse_count(word + 6, 1, MAX_SHIFT, &v->shift))
            return false;
    }
    return true;
}

int views_count(const views *v)
{
    return (v->shift ? 3 : 1) * (v->flip ? 2 : 1);
}

const char *views_name(const views *v, char text[32])
{
    snprintf(text, 32, "%d views", views_count(v));
    return text;
}

const char *views_text(const views *v)
{
    return v->shift  ? v->flip ? "six times, mirrored and moved" : "three times, moved"
           : v->flip ? "twice, mirrored too"
                     : "once";
}
