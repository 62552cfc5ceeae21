/* resize.c - nearest neighbour, as PIL has it. */
#include <string.h>

#include "data/image.h"

/*
 * The source coordinate of output pixel i is floor((i + 1/2) * from / to). PIL does not multiply: it starts at half a
 * step and adds one step per pixel, in double. Where the true value is an integer the rounding errors of the sum
 * decide, so the sum it is here.
 */
typedef struct {
    double at, step;
    int64_t last;
} gr_walk;

static gr_walk walk_start(int64_t from, int64_t to)
{
    double step = (double)from / (double)to;
    return (gr_walk){.at = step * 0.5, .step = step, .last = from - 1};
}

static int64_t walk_next(gr_walk *walk)
{
    int64_t here = (int64_t)walk->at;
    walk->at += walk->step;
    return here < walk->last ? here : walk->last;
}

void gr__resize_nearest(const uint8_t *in, const int64_t from[2], int64_t channels, const int64_t to[2], uint8_t *out)
{
    gr_walk rows = walk_start(from[0], to[0]);
    for (int64_t y = 0; y < to[0]; y++) {
        const uint8_t *row = in + walk_next(&rows) * from[1] * channels; /* [from[1], channels] */
        gr_walk columns = walk_start(from[1], to[1]);
        for (int64_t x = 0; x < to[1]; x++, out += channels)
            memcpy(out, row + walk_next(&columns) * channels, (size_t)channels);
    }
}
