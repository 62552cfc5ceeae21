/* levels.c - see levels.h. */
#include "draw/levels.h"

#include <math.h>
#include <stdlib.h>

void levels_add(levels *l, double value, double low, double high)
{
    if (l->n == l->room) {
        const size_t room = l->room ? 2 * l->room : 4096;
        uint8_t *grown = realloc(l->bytes, room);
        l->lost = l->lost || !grown;
        if (!grown)
            return;
        l->bytes = grown;
        l->room = room;
    }
    const double share = high > low ? (value - low) / (high - low) : 0;
    l->bytes[l->n++] = (uint8_t)lround(255 * fmin(fmax(share, 0), 1));
}

/* RFC 4648, section 4: three bytes are four letters; at the end "=" stands for what is missing. */
static void write_letters(const uint8_t *bytes, size_t n, char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const unsigned bits =
            (unsigned)bytes[i] << 16 | (i + 1 < n ? (unsigned)bytes[i + 1] << 8 : 0) | (i + 2 < n ? bytes[i + 2] : 0);
        *text++ = letters[bits >> 18];
        *text++ = letters[bits >> 12 & 63];
        *text++ = i + 1 < n ? letters[bits >> 6 & 63] : '=';
        *text++ = i + 2 < n ? letters[bits & 63] : '=';
    }
    *text = '\0';
}

json_t *levels_json(levels *l)
{
    char *text = l->lost ? NULL : malloc((l->n + 2) / 3 * 4 + 1);
    if (text)
        write_letters(l->bytes, l->n, text);
    json_t *o = text ? json_string(text) : NULL;
    free(text);
    free(l->bytes);
    *l = (levels){0};
    return o;
}

int64_t levels_every(int64_t side, int64_t most)
{
    return (side + most - 1) / most;
}
