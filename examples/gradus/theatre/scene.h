/* scene.h - what the emulator wrote down of one block (kernels/simt/check/watch.c), as the page wants it. */
#ifndef GRADUS_THEATRE_SCENE_H
#define GRADUS_THEATRE_SCENE_H

#include <jansson.h>

#include "terminal/complain.h"

/* The block that is asked for. */
typedef struct {
    const char *kernel; /* NULL: the first to be launched */
    unsigned block[3];
    int64_t launch, limit; /* 0: the first of that kernel; the emulator's */
} scene_wish;

/*
 * The file at path as an object: scene, events, end, sites [[file, line], ...], objects, sources {file: text}. Returns
 * 0, or an exit code when the block is not in it, with why complained of.
 */
int scene_read(const char *path, const scene_wish *wish, json_t **data);

#endif
