/* numbers.c - words of a model's text that are numbers. */
#include <stdlib.h>

#include "nn/text/text.h"

/* Digits at *text, as a number of at most `most`; one more than that where it is larger. -1: there are none. */
static int digits(const char **text, int most)
{
    int n = -1;
    for (; **text >= '0' && **text <= '9'; (*text)++)
        n = (n < 0 ? 0 : n) > most ? most + 1 : 10 * (n < 0 ? 0 : n) + (**text - '0');
    return n > most ? most + 1 : n;
}

bool gr__text_count(gr_text *t, const char *what, int least, int most, int *n)
{
    const gr_word *w = gr__text_word(t);
    if (!w)
        return gr__text_fail(t, NULL, "%s is missing; give a whole number from %d to %d", what, least, most);
    const char *end = w->text;
    *n = digits(&end, most);
    return (!*end && *n >= least && *n <= most) ||
           gr__text_fail(t, w, "%s is \"%s\"; it must be a whole number from %d to %d", what, w->text, least, most);
}

bool gr__text_window(gr_text *t, int window[2])
{
    const gr_word *w = gr__text_word(t);
    if (!w)
        return gr__text_fail(t, NULL, "the window's size is missing; give one such as 3x3");
    const char *end = w->text;
    window[0] = window[1] = digits(&end, GR__MOST_WINDOW);
    if (*end == 'x') {
        end++;
        window[1] = digits(&end, GR__MOST_WINDOW);
    }
    for (int i = 0; i < 2; i++)
        if (*end || window[i] < 1 || window[i] > GR__MOST_WINDOW)
            return gr__text_fail(t, w, "the window's size is \"%s\"; it must be one such as 3x3, sides from 1 to %d",
                                 w->text, GR__MOST_WINDOW);
    return true;
}

/*
 * Digits, with a point and an exponent where they are wanted. Read here and not by strtod, which reads by the program's
 * locale; with one rounding, as powers of ten up to 22 are exact and so is a number of up to 15 digits.
 */
static bool read_real(const char *c, double *x)
{
    enum { MOST_EXPONENT = 30 };
    bool any = false;
    int scale = 0, exponent = 0, sign = 1;
    for (*x = 0; *c >= '0' && *c <= '9'; c++, any = true)
        *x = 10 * *x + (*c - '0');
    if (*c == '.')
        for (c++; *c >= '0' && *c <= '9'; c++, scale++, any = true)
            *x = 10 * *x + (*c - '0');
    if (any && *c == 'e') {
        sign = c[1] == '-' ? -1 : 1;
        c += 1 + (c[1] == '-');
        exponent = digits(&c, MOST_EXPONENT);
    }
    double power = 1;
    const int shift = sign * exponent - scale;
    for (int i = 0; i < abs(shift); i++)
        power *= 10;
    *x = shift < 0 ? *x / power : *x * power;
    return any && !*c && exponent >= 0 && exponent <= MOST_EXPONENT;
}

bool gr__text_real(gr_text *t, const char *what, double most, double *x)
{
    const gr_word *w = gr__text_word(t);
    if (!w)
        return gr__text_fail(t, NULL, "%s is missing; give a number from 0 to %g", what, most);
    return (read_real(w->text, x) && *x <= most) ||
           gr__text_fail(t, w, "%s is \"%s\"; it must be a number from 0 to %g", what, w->text, most);
}
