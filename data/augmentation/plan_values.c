/* plan_values.c - see plan_values.h. */
#include "data/augmentation/plan_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool gr__plan_real(const char **text, double *x)
{
    char *end;
    if (!strchr("+-.0123456789", **text) || !**text) /* no "inf", no "nan", no blanks */
        return false;
    *x = strtod(*text, &end);
    /* "0.9..1.1": strtod takes "0.9." for a number */
    if (end > *text + 1 && end[-1] == '.' && *end == '.')
        end--;
    bool good = end > *text && isfinite(*x);
    *text = end;
    return good;
}

bool gr__plan_side(const char **text, int64_t *side)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    long long n = strtoll(*text, &end, 10);
    *text = end;
    *side = n;
    return n >= 1 && n <= GR__PLAN_SIDE;
}

bool gr__plan_sides(const char **text, int64_t size[2])
{
    if (!gr__plan_side(text, &size[0]))
        return false;
    size[1] = size[0];
    if (**text != 'x')
        return true;
    ++*text;
    return gr__plan_side(text, &size[1]);
}

int gr__plan_choice(const char *value, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], value))
            return i;
    return -1;
}

bool gr__plan_offset(const char *text, int64_t at[2])
{
    for (int axis = 0; axis < 2; axis++) {
        char *end;
        const char *digits = text + (*text == '-');
        if (*digits < '0' || *digits > '9')
            return false;
        at[axis] = strtoll(text, &end, 10);
        if (at[axis] > GR__PLAN_SIDE || at[axis] < -GR__PLAN_SIDE || *end != (axis ? '\0' : ':'))
            return false;
        text = end + 1;
    }
    return true;
}

bool gr__plan_place(const char *text, gr__step *step)
{
    step->centred = !strcmp(text, "center");
    if (step->centred)
        return true;
    for (int axis = 0; axis < 2; axis++) {
        char *end;
        if (*text < '0' || *text > '9')
            return false;
        step->at[axis] = strtoll(text, &end, 10);
        if (step->at[axis] > GR__PLAN_SIDE || *end != (axis ? '\0' : ':'))
            return false;
        text = end + 1;
    }
    return true;
}
