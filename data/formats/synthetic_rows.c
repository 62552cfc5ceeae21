/*
 * synthetic_rows.c - two classes of rows of numbers: points on two arcs that reach into each other, each the other
 * turned by half a turn about the origin, and features that tell nothing beside them.
 *
 * Sample i is of class i % 2, s = 1 for class 0 and -1 for class 1. With t uniform in [-1, 1) and e, f uniform in
 * [-0.35, 0.35), all drawn by Philox from (seed, i):
 *
 *   feature 0 = s (t - 1/2) + e,   feature 1 = s (1 - 3/2 t^2) + f,   features 2, 3, ... uniform in [-1, 1)
 *
 * The noise makes the classes overlap: no rule is right on more than 96 % of such samples, no straight line through the
 * origin on more than 88 % (both counted on 400,000 of them). Only sums and products are used, so that every machine
 * draws the same bytes.
 *
 * Data sets hold bytes. A feature v is kept as the nearest of 256 levels from -2 to 2, 4/255 apart, and the set's
 * normalisation makes v of it again: what is trained on are the rounded numbers.
 */
#include "core/philox.h"
#include "data/dataset.h"

enum { CLASSES = 2, INFORMATIVE = 2 };

static const float NOISE = 0.35f, RANGE = 2;

/* Draw number k of a sample, uniform in [-limit, limit). */
static float draw(uint64_t seed, int64_t sample, int k, float limit)
{
    return limit * (2 * gr__random_uniform(seed, GR_RNG_PROCEDURAL, (uint32_t)sample, (uint64_t)k) - 1);
}

/* No feature leaves [-RANGE, RANGE]: the arcs end at 3/2. */
static uint8_t to_level(float v)
{
    return (uint8_t)((v + RANGE) / (2 * RANGE) * 255 + 0.5f);
}

static void draw_sample(gr_images *images, int64_t i, uint64_t seed)
{
    uint8_t *feature = gr__image_at(images, i); /* [1, features, 1] */
    float s = i % CLASSES == 0 ? 1 : -1, t = draw(seed, i, 0, 1);
    feature[0] = to_level(s * (t - 0.5f) + draw(seed, i, 1, NOISE));
    feature[1] = to_level(s * (1 - 1.5f * t * t) + draw(seed, i, 2, NOISE));
    for (int k = INFORMATIVE; k < images->width; k++)
        feature[k] = to_level(draw(seed, i, k + 1, 1));
    images->labels[i] = (int32_t)(i % CLASSES);
}

gr_dataset *gr_table_classes(gr_context *ctx, int64_t n, int features, uint64_t seed)
{
    static const char *const names[CLASSES] = {"arc", "turned arc"};
    if (!gr_ok(ctx))
        return NULL;
    if (n < 1 || features < INFORMATIVE) {
        gr__fail(ctx, GR_USAGE, "a table of %lld rows and %d features; at least 1 row and %d features are needed",
                 (long long)n, features, INFORMATIVE);
        return NULL;
    }
    gr_images *images = gr__images_new(ctx, n, (int64_t[]){1, features, 1}, CLASSES);
    if (!images)
        return NULL;
    for (int c = 0; c < CLASSES; c++)
        gr__images_name(ctx, images, c, names[c]);
    for (int64_t i = 0; i < n && !ctx->options.plan_only; i++) /* where it only plans nobody looks at them */
        draw_sample(images, i, seed);
    gr_dataset *set = gr__dataset_own(ctx, images);
    gr_dataset_normalise(set, &(gr_normalise_args){.mean = {0.5f}, .std = {1 / (2 * RANGE)}});
    return set;
}
