/* turned.h - pictures whose Exif tag says that they do not lie upright: they are seen as they are stored. */
#ifndef GRADUS_TURNED_H
#define GRADUS_TURNED_H

#include <stdint.h>
#include <stdio.h>

typedef struct {
    int64_t n;
    char first[512]; /* of them, cut where it is longer */
} turned;

void turned_note(turned *t, const char *file);

/* Says how many there are, and what to do; nothing where there are none. */
void turned_tell(const turned *t, FILE *f);

#endif
