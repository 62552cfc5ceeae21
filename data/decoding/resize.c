/* resize.c - nearest neighbour, as PIL has it. */
#include "data/decoding/image.h"

#include <string.h>

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

enum { STRIP = 256 /* columns whose sources are worked out at a time */ };

/* out[n, channels] from the pixels of row that begin at these bytes. Inline: the compiler knows the channels. */
static inline void take_pixels(const uint8_t *row, const int64_t *at, int64_t n, int64_t channels, uint8_t *out)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < channels; c++)
            out[i * channels + c] = row[at[i] + c];
}

/*
 * out[n, 3] likewise, from a row whose last pixel begins at byte last. Four bytes at a time: the fourth is overwritten
 * by the pixel that follows. So the last pixel of out, and those of the row's last, are taken byte by byte.
 */
static void take_colours(const uint8_t *row, const int64_t *at, int64_t n, int64_t last, uint8_t *out)
{
    int64_t i = 0;
    for (; i < n - 1 && at[i] < last; i++)
        memcpy(out + i * 3, row + at[i], 4);
    take_pixels(row, at + i, n - i, 3, out + i * 3);
}

void gr__resize_nearest(const uint8_t *in, const int64_t from[2], int64_t channels, const int64_t to[2], uint8_t *out)
{
    gr_walk columns = walk_start(from[1], to[1]);
    for (int64_t x = 0; x < to[1]; x += STRIP) {
        const int64_t n = to[1] - x < STRIP ? to[1] - x : STRIP;
        int64_t at[STRIP];
        for (int64_t i = 0; i < n; i++)
            at[i] = walk_next(&columns) * channels;
        gr_walk rows = walk_start(from[0], to[0]);
        for (int64_t y = 0; y < to[0]; y++) {
            const uint8_t *row = in + walk_next(&rows) * from[1] * channels; /* [from[1], channels] */
            uint8_t *strip = out + (y * to[1] + x) * channels;
            if (channels == 3)
                take_colours(row, at, n, (from[1] - 1) * channels, strip);
            else
                take_pixels(row, at, n, channels, strip);
        }
    }
}
