/* draw.c - inputs by operation: most are uniform in [-1, 1); those of functions with jumps keep away from the jump. */
#include "tests/table/draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/philox.h"

static uint32_t bits(const row *r, uint32_t stream, uint64_t i)
{
    uint64_t block = i / 4;
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), stream, 0};
    uint32_t key[2] = {(uint32_t)r->hash, (uint32_t)(r->hash >> 32)}, out[4];
    gr__philox(counter, key, out);
    return out[i % 4];
}

float draw_uniform(const row *r, uint32_t stream, uint64_t i)
{
    return (float)(bits(r, stream, i) >> 8) * 0x1p-23f - 1;
}

/* The streams of the row that was drawn last: every device and every check of it asks for the same numbers again. */
static struct {
    uint64_t row; /* its hash */
    struct {
        double *values; /* NULL: not drawn yet */
        int64_t count;
    } stream[DRAW_PRELOAD + GR_MAX_IN];
} known;

enum { STREAMS = sizeof known.stream / sizeof *known.stream };

static void forget(void)
{
    for (int i = 0; i < STREAMS; i++)
        free(known.stream[i].values);
    memset(&known, 0, sizeof known);
}

/* Fills values with what is known; false: nothing is. */
static bool recall(const row *r, uint32_t stream, int64_t count, double *values)
{
    if (known.row != r->hash)
        forget();
    if (!known.stream[stream].values || known.stream[stream].count != count)
        return false;
    memcpy(values, known.stream[stream].values, (size_t)count * sizeof *values);
    return true;
}

static void remember(const row *r, uint32_t stream, int64_t count, const double *values)
{
    double *copy = realloc(known.stream[stream].values, (size_t)count * sizeof *copy + 1);
    if (!copy)
        abort();
    memcpy(copy, values, (size_t)count * sizeof *copy);
    known.row = r->hash;
    known.stream[stream].values = copy;
    known.stream[stream].count = count;
}

void draw_stream(const row *r, uint32_t stream, int64_t count, double *values)
{
    if (recall(r, stream, count, values))
        return;
    for (int64_t i = 0; i < count; i++)
        values[i] = (double)draw_uniform(r, stream, (uint64_t)i);
    remember(r, stream, count, values);
}

/* For ReLU: nothing nearer to 0 than 1/16. */
static double off_zero(double u)
{
    return u < 0 ? u * 0.9375 - 0.0625 : u * 0.9375 + 0.0625;
}

/* For max-pooling: 0 .. count-1 in a random order, so that no two elements are equal. */
static void distinct(const row *r, int slot, int64_t count, double *values)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = (double)i;
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = (int64_t)((uint64_t)bits(r, (uint32_t)slot, (uint64_t)i) * (uint64_t)(i + 1) >> 32);
        double swap = values[i];
        values[i] = values[j];
        values[j] = swap;
    }
    for (int64_t i = 0; i < count; i++)
        values[i] = values[i] * 2 / (double)count - 1;
}

/* Labels: the first class first, the last class last, anything between; stray: from just below them to just above. */
static int64_t label(const row *r, int slot, int64_t i, int64_t count)
{
    int64_t columns = r->shape[0][1], classes = columns > 1 ? columns : 2;
    if (r->stray)
        return (int64_t)(bits(r, (uint32_t)slot, (uint64_t)i) % (uint64_t)(classes + 2)) - 1;
    int64_t drawn = (int64_t)(bits(r, (uint32_t)slot, (uint64_t)i) % (uint64_t)classes);
    return count == 1 ? drawn : i == 0 ? 0 : i == count - 1 ? classes - 1 : drawn;
}

/*
 * Numbers of an affine map and of a box, around the picture's middle: a turn and a stretch of up to a quarter, a move
 * of up to three eighths of a side, mirrored for every other picture; whole: only the mirror and whole pixels; resize:
 * these after a resize. The box may reach beyond.
 */
static double map_number(const row *r, int slot, int64_t n, int64_t k)
{
    const int64_t side[2] = {r->shape[0][2], r->shape[0][1]}; /* of columns, of rows */
    const int *size = ((const gr_augment_args *)r->args)->size;
    const int64_t seen[2] = {size[1] ? size[1] : side[0], size[0] ? size[0] : side[1]};
    const double u = (double)draw_uniform(r, (uint32_t)slot, (uint64_t)(n * GR_MAP + k)), mirror = n % 2 ? -1 : 1;
    if (k >= 6) /* top, left, bottom, right: from before the start to beyond the end */
        return floor((double)seen[k % 2 ? 0 : 1] * (k < 8 ? 0.5 + 0.75 * u : 0.75 + 0.5 * u));
    const int64_t axis = k / 3, own = axis ? 4 : 0, other = axis ? 3 : 1;
    const bool resize = r->resize[0];
    if (k == own && resize)
        return (axis ? 1 : mirror) * ((double)side[axis] / r->resize[1 - axis]);
    if (k == own)
        return (axis ? 1 : mirror) * (r->whole ? 1 : 1 + 0.25 * u);
    if (k == other)
        return r->whole || resize ? 0 : 0.25 * u;
    const double a = map_number(r, slot, n, own), b = map_number(r, slot, n, other);
    const double move = floor(0.375 * (double)side[axis] * u);
    if (r->whole) /* the first pixel, or for a mirror the last one */
        return (a < 0 ? (double)side[axis] - 1 : 0) + move + 0.5;
    if (resize)
        return (a < 0 ? (double)side[axis] : 0) + move + 0.5 * a;
    /* the middle of the result is the middle of the picture, moved */
    return (double)side[axis] / 2 + move - a * (double)(seen[axis] - 1) / 2 - b * (double)(seen[1 - axis] - 1) / 2;
}

/* Element i of maps: a coefficient is whole pixels and 2^-32 of one. */
static double map_element(const row *r, int slot, int64_t i)
{
    const int64_t n = i / GR_MAP, k = i % GR_MAP;
    if (k >= 12)
        return map_number(r, slot, n, k - 6);
    const double number = map_number(r, slot, n, k / 2) + (r->nearly == k / 2 + 1 ? 0.25 : 0), whole = floor(number);
    return k % 2 ? (double)(int32_t)(uint32_t)((number - whole) * 0x1p32) : whole;
}

static double one(const row *r, int slot, const gr_slot *s, int64_t i, int64_t count)
{
    if (r->op->id == GR_OP_augment && s->type == GR_SLOT_I32)
        return map_element(r, slot, i);
    if (s->type == GR_SLOT_I32 &&
        r->op->id == GR_OP_gather) /* from just before the first picture to just behind the last */
        return (double)(bits(r, (uint32_t)slot, (uint64_t)i) % (uint64_t)(r->shape[0][0] + 2)) - 1;
    if (s->type == GR_SLOT_I32)
        return (double)label(r, slot, i, count);
    if (s->type == GR_SLOT_U8)
        return bits(r, (uint32_t)slot, (uint64_t)i) & 255;
    double u = (double)draw_uniform(r, (uint32_t)slot, (uint64_t)i);
    if (!strcmp(s->name, "weight")) /* some samples do not count */
        return i % 5 == 3 ? 0 : (u + 1.5) * r->scale;
    if (!strcmp(s->name, "norm") || r->op->id == GR_OP_log)
        return (u + 1.5) * r->scale;
    if (!strcmp(s->name, "v") || !strcmp(s->name, "m")) /* a moment, of Adam's the second a square */
        return r->fresh ? 0 : s->flags & GR_SLOT_POSITIVE ? u * 0.5 + 0.625 : u;
    if (strlen(s->name) >= 3 && !strcmp(s->name + strlen(s->name) - 3, "var")) /* a variance */
        return u * 0.5 + 0.625;
    if (!strcmp(s->name, "y")) /* the result of a ReLU */
        return u > 0 ? u : 0;
    if (r->overflow && strchr("gxl", *s->name) && i == count / 2)
        return INFINITY;
    if (r->ties)
        return (double)(bits(r, (uint32_t)slot, (uint64_t)i) % 3) - 1;
    if (r->op->id == GR_OP_relu)
        return off_zero(u) * r->scale;
    return u * r->scale;
}

void draw_input(const row *r, int slot, int64_t count, double *values)
{
    if (recall(r, (uint32_t)slot, count, values))
        return;
    if (r->op->id == GR_OP_max_pool2d && !r->ties)
        distinct(r, slot, count, values);
    else
        for (int64_t i = 0; i < count; i++)
            values[i] = one(r, slot, &r->op->in[slot], i, count);
    for (int64_t i = 0; i < count; i++)
        values[i] = r->op->in[slot].type == GR_SLOT_I32 ? values[i] : (double)(float)values[i];
    remember(r, (uint32_t)slot, count, values);
}
