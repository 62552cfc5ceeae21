/* gallery.h - test pictures for the page, with what the network says of them. */
#ifndef GRADUS_DRAW_GALLERY_H
#define GRADUS_DRAW_GALLERY_H

#include "evaluate/scores.h"
#include "evaluate/test_pictures.h"

/*
 * Samples of t, in the order of list, as the network sees them: [{"name", "label", "said" (class names), "right",
 * "probability", "size": [H, W], "channels": 1 or 3, "n": 1, "columns": 1, "levels"}]; of sides above 100 points every
 * so manieth is there. A new reference. NULL: the context tells, or no memory.
 */
json_t *gallery_json(gr_context *ctx, const test_pictures *t, const weights_notes *notes, const mistake *list,
                     int64_t n);

#endif
