/* late.c - pictures that are decoded from their files each time they are wanted: a set larger than memory. */
#include <stdio.h>
#include <stdlib.h>

#include "core/clock.h"
#include "data/formats/files.h"

typedef struct {
    gr_image_source source; /* first: a gr_image_source * is a late * */
    const gr_images *images;
    gr_files files;
} late;

static gr_decoded late_read(const gr_image_source *s, int64_t row, uint8_t *pixels, char reason[GR__REASON_SIZE],
                            int64_t *reading)
{
    const late *l = (const late *)s;
    const int64_t size[2] = {l->images->height, l->images->width};
    uint8_t *buffer;
    const uint8_t *bytes;
    size_t length;
    const int64_t begin = gr__nanoseconds();
    gr_decoded result =
        gr__files_read(&l->files, l->images->labels[row], l->images->places[row], &buffer, &bytes, &length, reason);
    *reading += gr__nanoseconds() - begin;
    if (result == GR__DECODED)
        result = gr__decode_resized(bytes, length, size, pixels, reason);
    free(buffer);
    return result;
}

static void late_name(const gr_image_source *s, int64_t row, char *text, size_t size)
{
    const late *l = (const late *)s;
    const gr_class_files *of_class = &l->files.listing.classes[l->images->labels[row]];
    snprintf(text, size, "%s/%s", of_class->name, of_class->files[l->images->places[row]]);
}

static void late_close(gr_image_source *s)
{
    late *l = (late *)s;
    gr__files_close(&l->files);
    free(l);
}

gr_image_source *gr__late_source(gr_context *ctx, const gr_images *images, gr_files *files)
{
    late *l = gr__calloc(ctx, 1, sizeof *l);
    if (!l)
        return NULL;
    *l = (late){
        .source = {.read = late_read, .name = late_name, .close = late_close}, .images = images, .files = *files};
    if (l->files.archive.path)
        l->files.archive.path = l->files.root;
    *files = (gr_files){0};
    return &l->source;
}
