/* levels.h - numbers as shades for the page: a byte each, 0 to 255, in base64. */
#ifndef GRADUS_DRAW_LEVELS_H
#define GRADUS_DRAW_LEVELS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes on their way to the page. Zero: none yet. */
typedef struct {
    uint8_t *bytes;
    size_t n, room;
    bool lost; /* memory has run out */
} levels;

/* The shade of a value in a picture from low, black, to high, white. */
void levels_add(levels *l, double value, double low, double high);

/* As text; what l had is given back. NULL: no memory. */
json_t *levels_json(levels *l);

/* Of a side of so many points: every so manieth is shown, so that there are at most so many. */
int64_t levels_every(int64_t side, int64_t most);

#endif
