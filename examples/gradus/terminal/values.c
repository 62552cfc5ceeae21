/* values.c - see values.h. */
#include "terminal/values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool parse_count(const char *text, int64_t low, int64_t high, int64_t *value)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    bool plain = isdigit((unsigned char)text[0]) || text[0] == '-'; /* strtoll would also take blanks and a plus */
    if (!plain || *end || errno || n < low || n > high)
        return false;
    *value = n;
    return true;
}

bool parse_amount(const char *text, amount *a)
{
    char *end;
    a->value = strtod(text, &end);
    a->given = (isdigit((unsigned char)text[0]) || text[0] == '.') && !*end && isfinite(a->value);
    return a->given;
}

bool parse_positive(const char *text, double *value)
{
    amount a;
    bool good = parse_amount(text, &a) && a.value > 0;
    *value = a.value;
    return good;
}

bool parse_bytes(const char *text, int64_t *value)
{
    static const char units[] = "KMGT";
    char *end;
    double number = strtod(text, &end);
    if (!isdigit((unsigned char)text[0]) || end == text)
        return false;
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (unit) {
        number = ldexp(number, 10 * (int)(unit - units + 1));
        end++;
    }
    if (*end || !isfinite(number) || number < 1 || number > 9e18)
        return false;
    *value = (int64_t)number;
    return true;
}

bool next_entry(const char **list, char word[32])
{
    if (!*list)
        return false;
    size_t length = strcspn(*list, ",");
    bool fits = length < 32;
    memcpy(word, *list, fits ? length : 0);
    word[fits ? length : 0] = '\0';
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return true;
}

int parse_counts(const char *list, int64_t low, int64_t high, int64_t *values, int most, char word[32])
{
    int n = 0;
    while (next_entry(&list, word)) {
        if (n == most)
            return -2;
        if (!parse_count(word, low, high, &values[n++]))
            return -1;
    }
    return n;
}
