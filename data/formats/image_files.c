/* image_files.c - pictures by their paths, of no known class. */
#include <stdlib.h>

#include "data/decoding/file_check.h"
#include "data/formats/files.h"

static bool check(gr_context *ctx, int n, const char *const *paths, const gr_image_options *o)
{
    if (n < 1 || !paths || !o)
        return gr__fail(ctx, GR_USAGE, "gr_image_files wants at least one path, and options with height and width");
    return (o->height > 0 && o->width > 0) ||
           gr__fail(ctx, GR_USAGE, "images of %d x %d pixels are asked for; height and width must be at least 1",
                    o->height, o->width);
}

static gr_decoded read_one(const char *path, const int64_t size[2], uint8_t *pixels, bool *turned,
                           char reason[GR__REASON_SIZE])
{
    uint8_t *bytes;
    size_t length;
    gr_decoded result = gr__read_file(path, &bytes, &length, reason);
    if (result != GR__DECODED)
        return result;
    result = gr__decode_resized(bytes, length, size, pixels, reason);
    *turned = gr__jpeg_orientation(bytes, length) != 1;
    free(bytes);
    return result;
}

/* What decodes into images, one after the other. False: recorded. */
static bool read_all(gr_context *ctx, int n, const char *const *paths, const gr_image_options *o, gr_images *images)
{
    const int64_t size[2] = {o->height, o->width};
    char reason[GR__REASON_SIZE];
    images->n = 0;
    for (int i = 0; i < n; i++) {
        bool turned = false;
        const gr_decoded result =
            read_one(paths[i], size, images->pixels + images->n * gr__image_bytes(images), &turned, reason);
        if (result == GR__OUT_OF_MEMORY)
            return gr__fail(ctx, GR_NO_MEMORY, "out of memory: %s cannot be decoded", paths[i]);
        if (result == GR__UNREADABLE) /* a file that is missing, or none, is the caller's mistake */
            return gr__fail(ctx, GR_IO_ERROR, "%s cannot be read: %s", paths[i], reason);
        if (result == GR__DECODED && turned && o->turned)
            o->turned(o->user, paths[i]);
        if (result == GR__DECODED)
            images->labels[images->n++] = 0;
        else if (o->skipped)
            o->skipped(o->user, paths[i], reason);
        else
            return gr__fail(ctx, gr__decoded_code(result), "%s: %s", paths[i], reason);
    }
    return images->n > 0 ||
           gr__fail(ctx, GR_BAD_DATA, "none of the %d file%s is a picture that can be decoded", n, n == 1 ? "" : "s");
}

gr_dataset *gr_image_files(gr_context *ctx, int n, const char *const *paths, const gr_image_options *options)
{
    if (!gr_ok(ctx) || !check(ctx, n, paths, options) || !gr__jpeg_decoder_is_known(ctx))
        return NULL;
    const int64_t shape[3] = {options->height, options->width, 3};
    gr_images *images = gr__images_new(ctx, n, shape, 1);
    if (images && gr__images_name(ctx, images, 0, "") && read_all(ctx, n, paths, options, images))
        return gr__dataset_own(ctx, images);
    gr__images_free(images);
    return NULL;
}
