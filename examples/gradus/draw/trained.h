/* trained.h - what trained weights look like and what they make of test pictures, for the page. */
#ifndef GRADUS_DRAW_TRAINED_H
#define GRADUS_DRAW_TRAINED_H

#include "settings/resolved.h"
#include "train/weights_file.h"

/*
 * Adds to the page's data: filters and maps to the layers; "weights", the file's name; "test": {"n", "right", "data"};
 * "pictures", whose maps they are, and "wrong", the surest mistakes, both as gallery.h has them. Computes in fp32 on
 * the device cpu. ctx: the one that the notes were read in. Returns 0 or an exit code, complained of.
 */
int trained_add(gr_context *ctx, const resolved *s, const weights_notes *notes, json_t *data, const char *command);

#endif
