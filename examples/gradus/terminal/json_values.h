/*
 * json_values.h - what an object of JSON holds under a key, where a member that is missing or of another type is as
 * good as none; and values that JSON cannot hold as they are.
 */
#ifndef GRADUS_JSON_VALUES_H
#define GRADUS_JSON_VALUES_H

#include <jansson.h>

/* The text under key, the object's own; "" where there is none. */
const char *text_at(const json_t *object, const char *key);

/* The number under key, whole or not; NAN where there is none. */
double number_at(const json_t *object, const char *key);

/* A number, null where it is not finite: JSON has no other. */
json_t *json_real_or_null(double x);

/*
 * A text that others have had a hand in, such as a file's name. Where it is no UTF-8, which JSON cannot hold, its bytes
 * beyond ASCII are written out as \xNN. NULL: no memory.
 */
json_t *json_plain(const char *text);

#endif
