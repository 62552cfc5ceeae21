/* views.h - which views of a picture a trained network is asked about: test-time augmentation. */
#ifndef GRADUS_VIEWS_H
#define GRADUS_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

/* The picture itself is always one. */
typedef struct {
    bool flip;     /* each mirrored, too */
    int64_t shift; /* moved by so many pixels both ways, too; 0: not */
} views;

enum { MAX_SHIFT = 64 };

/* "flip", "shift=1", "flip,shift=1" or "none". False: text is not of these forms. */
bool read_views(const char *text, views *v);

/* How many there are. */
int views_count(const views *v);

/* "6 views" into text, which is returned. */
const char *views_name(const views *v, char text[32]);

/* "six times, mirrored and moved"; "once" of the picture alone. */
const char *views_text(const views *v);

#endif
