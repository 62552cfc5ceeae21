/*
 * augment_draw.c - from a plan to the map of one sample.
 *
 * A map leads from the result back to the picture, so the steps' inverses follow one another: after steps 1 .. k a
 * point of the result is sent by the inverse of step k, then k-1, ..., and M = S1^-1 S2^-1 ... Sk^-1 grows from the
 * left. Coordinates are continuous: a pixel i reaches from i to i + 1, a picture's middle is at half its sides.
 * Composed in double on the host, the map is the same for every device.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/philox.h"
#include "data/augmentation/augment.h"

enum { DRAWS = 4 /* numbers of a step: one Philox block */ };

/* Point (x, y) goes to (a[0] x + a[1] y + a[2], a[3] x + a[4] y + a[5]). */
typedef struct {
    double a[6];
} affine;

/* The numbers of one step of one sample. */
typedef struct {
    const gr__plan_key *key;
    int step;
} dice;

/* Number i of the step, uniform in [0, 1). */
static double roll(const dice *d, int i)
{
    const uint64_t at = ((uint64_t)d->key->sample * (GR__PLAN_STEPS + 1) + (uint64_t)d->step) * DRAWS + (uint64_t)i;
    return (double)gr__random_uniform(d->key->seed, GR_RNG_AUGMENT, (uint32_t)d->key->epoch, at);
}

static double roll_between(const dice *d, double low, double high)
{
    return low + (high - low) * roll(d, 0);
}

/* A whole number from low to high. */
static int64_t roll_whole(const dice *d, int i, int64_t low, int64_t high)
{
    return low + (int64_t)(roll(d, i) * (double)(high - low + 1));
}

/* The point that b sends to where m sends on: m after b. */
static affine compose(const affine *m, const affine *b)
{
    const double *p = m->a, *q = b->a;
    return (affine){{p[0] * q[0] + p[1] * q[3], p[0] * q[1] + p[1] * q[4], p[0] * q[2] + p[1] * q[5] + p[2],
                     p[3] * q[0] + p[4] * q[3], p[3] * q[1] + p[4] * q[4], p[3] * q[2] + p[4] * q[5] + p[5]}};
}

/* The linear map (a b; c d) around the middle of a picture of these sides. */
static affine around_middle(const int64_t size[2], double a, double b, double c, double d)
{
    const double x = (double)size[1] / 2, y = (double)size[0] / 2;
    return (affine){{a, b, x - a * x - b * y, c, d, y - c * x - d * y}};
}

static bool is_flipped(const gr__step *step, const dice *d)
{
    if (step->flip == GR__FLIP_ALWAYS)
        return true;
    if (step->flip == GR__FLIP_RANDOM)
        return roll(d, 0) < 0.5;
    const gr__plan_key first = {d->key->seed, 0, d->key->sample};
    return (roll(&(dice){&first, d->step}, 0) < 0.5) != (d->key->epoch % 2 != 0);
}

static affine shift(double x, double y)
{
    return (affine){{1, 0, x, 0, 1, y}};
}

/* Where a crop begins, along one axis. */
static int64_t crop_start(const gr__step *step, const dice *d, const int64_t size[2], int axis)
{
    const int64_t room = size[axis] - step->size[axis];
    if (step->centred)
        return room / 2;
    return step->at[axis] == GR__ANYWHERE_INSIDE ? roll_whole(d, axis, 0, room) : step->at[axis];
}

/* The inverse of a step on a picture of these sides, which become those after it. */
static affine inverse(const gr__step *step, const dice *d, int64_t size[2])
{
    const double degree = acos(-1) / 180;
    const int64_t before[2] = {size[0], size[1]}, most = (int64_t)step->high;
    double x;
    switch (step->kind) {
    case GR__FLIP:
        return is_flipped(step, d) ? around_middle(size, -1, 0, 0, 1) : shift(0, 0);
    case GR__TRANSLATE:
        return shift((double)roll_whole(d, 0, -most, most), (double)roll_whole(d, 1, -most, most));
    case GR__SHIFT:
        return shift(-(double)step->at[1], -(double)step->at[0]);
    case GR__ROTATE: /* against the clock, as PIL's Image.rotate */
        x = roll_between(d, step->low, step->high) * degree;
        return around_middle(size, cos(x), -sin(x), sin(x), cos(x));
    case GR__SHEAR: /* the top goes to the right */
        return around_middle(size, 1, tan(roll_between(d, step->low, step->high) * degree), 0, 1);
    case GR__SCALE:
        x = roll_between(d, step->low, step->high);
        return around_middle(size, 1 / x, 0, 0, 1 / x);
    case GR__RESIZE:
        memcpy(size, step->size, sizeof step->size);
        return (affine){{(double)before[1] / (double)size[1], 0, 0, 0, (double)before[0] / (double)size[0], 0}};
    default:
        memcpy(size, step->size, sizeof step->size);
        return shift((double)crop_start(step, d, before, 1), (double)crop_start(step, d, before, 0));
    }
}

/* A coefficient, to the nearest multiple of 1/unit, halves up, in whole pixels and 2^-32 of one. */
static void write_number(double v, double unit, int32_t number[2])
{
    v = floor(v * unit + 0.5) / unit;
    const double whole = fmin(fmax(floor(v), INT32_MIN), INT32_MAX);
    number[0] = (int32_t)whole;
    number[1] = (int32_t)(uint32_t)((v - whole) * 0x1p32);
}

/* Offsets are those of the first pixel's centre. The nearest neighbour has the 16 binary places that PIL has there. */
static void write_map(const affine *m, bool nearest, int32_t map[GR_MAP])
{
    const double unit = nearest ? 0x1p16 : 0x1p32;
    for (int k = 0; k < 6; k += 3) {
        write_number(m->a[k], unit, map + 2 * k);
        write_number(m->a[k + 1], unit, map + 2 * k + 2);
        write_number(m->a[k + 2] + 0.5 * m->a[k] + 0.5 * m->a[k + 1], unit, map + 2 * k + 4);
    }
}

void gr__plan_nothing(int32_t map[GR_MAP])
{
    const affine same = shift(0, 0);
    memset(map, 0, GR_MAP * sizeof *map);
    write_map(&same, false, map);
}

void gr__plan_draw(const gr__plan *plan, const gr__plan_key *key, const int64_t from[2], int32_t map[GR_MAP])
{
    int64_t size[2] = {from[0], from[1]};
    affine m = shift(0, 0);
    for (int i = 0; i < plan->n; i++) {
        const affine back = inverse(&plan->steps[i], &(dice){key, i}, size);
        m = compose(&m, &back);
    }
    write_map(&m, plan->filter == GR_NEAREST, map);
    const dice cut = {key, GR__PLAN_STEPS};
    for (int axis = 0; axis < 2; axis++) { /* the square's middle is anywhere in the picture, so it may reach beyond */
        const int64_t first = roll_whole(&cut, axis, 0, size[axis] - 1) - plan->cutout / 2;
        map[12 + axis] = (int32_t)(plan->cutout ? first : 0);
        map[14 + axis] = (int32_t)(plan->cutout ? first + plan->cutout : 0);
    }
}

bool gr__plan_size(const gr__plan *plan, const int64_t from[2], int64_t to[2], char reason[GR__PLAN_REASON])
{
    memcpy(to, from, 2 * sizeof *to);
    for (int i = 0; i < plan->n; i++) {
        const gr__step *step = &plan->steps[i];
        if (step->kind != GR__RESIZE && step->kind != GR__CROP)
            continue;
        for (int axis = 0; axis < 2 && step->kind == GR__CROP; axis++) {
            const int64_t at = step->at[axis] > 0 && !step->centred ? step->at[axis] : 0;
            if (at + step->size[axis] <= to[axis])
                continue;
            snprintf(reason, GR__PLAN_REASON,
                     "the crop of %lld x %lld does not lie in a picture of %lld x %lld; take a smaller "
                     "one, or resize= before it",
                     (long long)step->size[0], (long long)step->size[1], (long long)to[0], (long long)to[1]);
            return false;
        }
        memcpy(to, step->size, sizeof step->size);
    }
    if (plan->cutout > to[0] && plan->cutout > to[1]) {
        snprintf(reason, GR__PLAN_REASON,
                 "a cutout of %lld x %lld is larger than the picture of %lld x %lld, of which it would leave little or "
                 "nothing; take a smaller one",
                 (long long)plan->cutout, (long long)plan->cutout, (long long)to[0], (long long)to[1]);
        return false;
    }
    return true;
}

gr__plan gr__plan_still(const gr__plan *plan)
{
    gr__plan still = {.filter = plan->filter, .fill = plan->fill};
    for (int i = 0; i < plan->n; i++) {
        gr__step step = plan->steps[i];
        if (step.kind != GR__RESIZE && step.kind != GR__CROP)
            continue;
        step.centred |= step.at[0] == GR__ANYWHERE_INSIDE;
        still.steps[still.n++] = step;
    }
    return still;
}
