/* image_folder.c - a folder or an archive of class folders, read into memory; see image_reader.h. */
#include <stdlib.h>
#include <string.h>

#include "core/philox.h"
#include "data/formats/image_reader.h"

static bool check_options(gr_context *ctx, const char *root, const gr_image_options *o)
{
    if (!root || !o)
        return gr__fail(ctx, GR_USAGE, "gr_image_folder wants a folder and options with at least height and width");
    if (strlen(root) > GR__PATH_SIZE - GR__FILE_NAME_SIZE)
        return gr__fail(ctx, GR_BAD_DATA, "the path of the image folder has %zu characters, which is too long",
                        strlen(root));
    if (o->height < 1 || o->width < 1)
        return gr__fail(ctx, GR_USAGE, "images of %d x %d pixels are asked for; height and width must be at least 1",
                        o->height, o->width);
    if ((unsigned)o->filter > GR_FILTER_KERAS_JFIF)
        return gr__fail(ctx, GR_USAGE, "filter %d: there is none of that number", (int)o->filter);
    if (o->memory < 0)
        return gr__fail(ctx, GR_USAGE, "memory is %lld bytes; it must be positive, or 0 for most of the machine's",
                        (long long)o->memory);
    if (o->per_class < 0)
        return gr__fail(ctx, GR_USAGE, "per_class is %d; it must be at least 1, or 0 for all images", o->per_class);
    if (!(o->allow_bad >= 0 && o->allow_bad <= 1))
        return gr__fail(ctx, GR_USAGE, "allow_bad is %g; it is a share of the files, from 0 to 1", o->allow_bad);
    return true;
}

/* Whether so many pictures may be kept in memory. False: recorded. */
static bool check_room(const gr_reader *r, int64_t rows)
{
    const double need = (double)rows * r->options->height * r->options->width * 3;
    const double limit = r->options->memory > 0 ? (double)r->options->memory : 0.75 * gr__machine_memory();
    return need <= limit ||
           gr__fail(
               r->ctx, GR_NO_MEMORY,
               "%lld images of %d x %d need %.2f GiB when they are preloaded, allowed are %.2f; preload none (they are "
               "decoded when they are wanted), take fewer or smaller ones, or allow more",
               (long long)rows, r->options->height, r->options->width, need / 0x1p30, limit / 0x1p30);
}

/* Lays the classes out one after the other, each with room for all the images it may have. */
static bool lay_out(gr_reader *r)
{
    int64_t rows = 0;
    r->n_classes = r->files.listing.n;
    r->classes = gr__calloc(r->ctx, (size_t)r->n_classes, sizeof *r->classes);
    for (int c = 0; r->classes && c < r->files.listing.n; c++) {
        gr_class_state *state = &r->classes[c];
        int64_t files = r->files.listing.classes[c].n, most = r->options->per_class;
        state->order = gr__calloc(r->ctx, (size_t)files, sizeof *state->order);
        state->files = gr__calloc(r->ctx, (size_t)files, sizeof *state->files);
        if (!state->files)
            return false;
        if (r->options->split_seed)
            gr__random_order(r->options->split_seed, GR_RNG_SPLIT, (uint32_t)c, files, state->order);
        for (int64_t i = 0; i < files && !r->options->split_seed; i++)
            state->order[i] = i;
        state->first = rows;
        state->rows = most > 0 && most < files ? most : files;
        rows += state->rows;
    }
    const int64_t shape[3] = {r->options->height, r->options->width, 3};
    if (!r->options->decode_late && !check_room(r, rows))
        return false;
    r->images = (r->options->decode_late ? gr__images_listed : gr__images_new)(r->ctx, rows, shape, r->n_classes);
    r->tasks = gr__host_alloc(r->ctx, rows, sizeof *r->tasks, "the list of images");
    for (int c = 0; r->tasks && c < r->files.listing.n; c++)
        gr__images_name(r->ctx, r->images, c, r->files.listing.classes[c].name);
    return gr_ok(r->ctx);
}

/* Brings the classes together where one has got fewer images than it has room for, and writes the labels. */
static void compact(gr_reader *r)
{
    int64_t n = 0;
    for (int c = 0; c < r->files.listing.n; c++) {
        const gr_class_state *state = &r->classes[c];
        gr__reader_move(r->images, n, state->first, state->good);
        for (int64_t i = 0; i < state->good; i++)
            r->images->labels[n++] = c;
    }
    r->images->n = n;
}

/* Which file each image was, so that a packed copy can be split as the files would be. */
static bool note_places(gr_reader *r)
{
    gr_images *images = r->images;
    images->places = gr__host_alloc(r->ctx, images->n, sizeof *images->places, "the files' places");
    images->files = gr__calloc(r->ctx, (size_t)r->files.listing.n, sizeof *images->files);
    int64_t n = 0;
    for (int c = 0; images->places && images->files && c < r->files.listing.n; c++) {
        images->files[c] = r->files.listing.classes[c].n;
        for (int64_t i = 0; i < r->classes[c].tried; i++)
            if (!r->classes[c].files[i].fault)
                images->places[n++] = r->classes[c].order[i];
    }
    return gr_ok(r->ctx);
}

static bool read_images(gr_reader *r, const char *root)
{
    if (!gr__files_open(r->ctx, root, &r->files) || !lay_out(r) || !gr__workers_open(r->ctx, &r->workers))
        return false;
    while (gr__reader_round(r))
        ;
    if (!gr_ok(r->ctx))
        return false;
    gr__reader_report(r);
    if (!gr__reader_check(r))
        return false;
    compact(r);
    if (!note_places(r))
        return false;
    if (r->options->decode_late)
        r->images->source = gr__late_source(r->ctx, r->images, &r->files);
    return gr_ok(r->ctx);
}

gr_dataset *gr_image_folder(gr_context *ctx, const char *root, const gr_image_options *options)
{
    if (!gr_ok(ctx) || !check_options(ctx, root, options) || !gr__jpeg_decoder_is_known(ctx))
        return NULL;
    gr_reader r = {.ctx = ctx, .options = options};
    bool read = read_images(&r, root);
    gr__workers_close(&r.workers);
    for (int c = 0; r.classes && c < r.n_classes; c++) {
        for (int64_t i = 0; r.classes[c].files && i < r.classes[c].tried; i++)
            free(r.classes[c].files[i].fault);
        free(r.classes[c].files);
        free(r.classes[c].order);
    }
    free(r.classes);
    free(r.tasks);
    gr__files_close(&r.files);
    if (read)
        return gr__dataset_own(ctx, r.images);
    gr__images_free(r.images);
    return NULL;
}
