/*
 * procedural.c - two classes of drawn pictures: a disc, and a ring that covers just as much.
 *
 * Place, size, the figure's colour, and colour and shading of the ground are drawn alike for both classes, so that the
 * mean colour tells nothing: what has to be learned is a shape that is never twice in the same place. Only sums,
 * products and quotients are used, no library function, so that every machine draws the same bytes.
 */
#include "core/philox.h"
#include "data/dataset.h"
#include "data/workers.h"

enum { CLASSES = 2, COLOURS = 3, NOISE = 16 /* draws from here on are for the noise, those below for the picture */ };

static const float GRAIN = 0.1f; /* the noise, the same for all colours of a pixel, lies between -GRAIN and GRAIN */

/* Lengths in units of the image's shorter side, from its centre; colours in units of the 0..1 image. */
typedef struct {
    float x, y;                             /* centre of the figure */
    float from, to;                         /* squares of its inner and outer radius */
    float ground[COLOURS], figure[COLOURS]; /* the figure's colour is added to the ground's */
    float across[COLOURS], down[COLOURS];   /* how the ground changes from one side to the other */
} gr_drawing;

typedef struct {
    gr_images *images;
    uint64_t seed;
} gr_drawing_job;

/* Draw number i of an image, uniform in [low, high). */
static float draw(uint64_t seed, int64_t image, int i, float low, float high)
{
    return low + (high - low) * gr__random_uniform(seed, GR_RNG_PROCEDURAL, (uint32_t)image, (uint64_t)i);
}

static gr_drawing plan(uint64_t seed, int64_t image, int class)
{
    gr_drawing d = {.x = draw(seed, image, 0, -0.1f, 0.1f), .y = draw(seed, image, 1, -0.1f, 0.1f)};
    float radius = draw(seed, image, 2, 0.16f, 0.26f), square = radius * radius;
    d.from = class == 0 ? 0 : square; /* the ring from r to sqrt(2) r has the area of the disc */
    d.to = class == 0 ? square : 2 * square;
    for (int c = 0; c < COLOURS; c++) {
        d.ground[c] = draw(seed, image, 3 + c, 0.2f, 0.6f);
        d.figure[c] = draw(seed, image, 6 + c, -0.1f, 0.5f);
        d.across[c] = draw(seed, image, 9 + c, -0.3f, 0.3f);
        d.down[c] = draw(seed, image, 12 + c, -0.3f, 0.3f);
    }
    return d;
}

/* The nearest, without a branch that noise would make a matter of luck. */
static uint8_t to_byte(float v)
{
    const float positive = v > 0 ? v : 0;
    return (uint8_t)((positive < 1 ? positive : 1) * 255 + 0.5f);
}

static void draw_image(void *arg, int64_t image)
{
    const gr_drawing_job *job = arg;
    const int64_t height = job->images->height, width = job->images->width, channels = job->images->channels;
    int class = (int)(image % CLASSES);
    float unit = 1 / (float)(height < width ? height : width);
    gr_drawing d = plan(job->seed, image, class);
    uint8_t *byte = gr__image_at(job->images, image); /* [height, width, channels] */
    uint32_t noise[4] = {0};                          /* four bytes each, one for each of four pixels */
    for (int64_t y = 0, i = 0; y < height; y++) {
        float v = ((float)y + 0.5f - 0.5f * (float)height) * unit;
        for (int64_t x = 0; x < width; x++, i++) {
            if (i % 16 == 0)
                gr__random_block(job->seed, GR_RNG_PROCEDURAL, (uint32_t)image, (uint64_t)(NOISE / 4 + i / 16), noise);
            float u = ((float)x + 0.5f - 0.5f * (float)width) * unit;
            float grain = ((float)(noise[i / 4 % 4] >> 8 * (i % 4) & 255) - 127.5f) * (GRAIN / 127.5f);
            float distance = (u - d.x) * (u - d.x) + (v - d.y) * (v - d.y); /* squared */
            bool inside = distance >= d.from && distance < d.to;
            for (int64_t c = 0; c < channels; c++)
                *byte++ = to_byte(d.ground[c] + u * d.across[c] + v * d.down[c] + (inside ? d.figure[c] : 0) + grain);
        }
    }
    job->images->labels[image] = class;
}

static gr_dataset *draw_images(gr_context *ctx, int64_t n, int height, int width, int channels, uint64_t seed)
{
    static const char *const names[CLASSES] = {"disc", "ring"};
    gr_workers workers;
    if (!gr_ok(ctx))
        return NULL;
    if (n < 1 || height < 1 || width < 1) {
        gr__fail(ctx, GR_USAGE, "%lld drawn images of %d x %d pixels are asked for; each number must be at least 1",
                 (long long)n, height, width);
        return NULL;
    }
    const bool drawn = !ctx->options.plan_only; /* else nobody looks at them, and they may stand for more than fit */
    const int64_t shape[3] = {height, width, channels};
    gr_images *images = (drawn ? gr__images_new : gr__images_listed)(ctx, n, shape, CLASSES);
    for (int c = 0; images && c < CLASSES; c++)
        gr__images_name(ctx, images, c, names[c]);
    if (!gr__workers_open(ctx, &workers)) {
        gr__images_free(images);
        return NULL;
    }
    gr_drawing_job job = {images, seed};
    if (images && drawn)
        gr_parallel_for(&workers.exec, n, draw_image, &job);
    gr__workers_close(&workers);
    return gr__dataset_own(ctx, images);
}

gr_dataset *gr_procedural(gr_context *ctx, int64_t n, int height, int width, uint64_t seed)
{
    return draw_images(ctx, n, height, width, 3, seed);
}

gr_dataset *gr_procedural_grey(gr_context *ctx, int64_t n, int height, int width, uint64_t seed)
{
    return draw_images(ctx, n, height, width, 1, seed);
}
