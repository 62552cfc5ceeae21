/* json_values.c - see json_values.h. */
#include "terminal/json_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

double number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

json_t *json_real_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *json_plain(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    char *plain = malloc(4 * strlen(text) + 1), *to = plain;
    for (const unsigned char *c = (const unsigned char *)text; plain && *c; c++)
        to += sprintf(to, *c < 0x80 ? "%c" : "\\x%02x", *c);
    value = plain ? json_stringn(plain, (size_t)(to - plain)) : NULL;
    free(plain);
    return value;
}
