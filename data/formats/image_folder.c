/*
 * image_folder.c - decodes a folder or an archive of class folders into memory, by several threads.
 *
 * Which files are read never depends on the threads: in each round every class tries just as many further files as it
 * lacks images, the round is decoded in parallel, and what did not decode is made up for in the next. With per_class
 * that is the shortest run of files from the first that gives so many good images.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "core/philox.h"
#include "data/formats/files.h"
#include "data/formats/filter.h"
#include "data/workers.h"

/* What became of a file that was tried. */
typedef struct {
    char *fault;   /* why it was left out; NULL: it was not */
    bool filtered; /* by the filter, not for want of decoding */
    int64_t size;  /* bytes */
    uint32_t crc;  /* of them: CRC-32 */
} gr_tried;

typedef struct {
    int64_t *order;      /* [files] in which they are tried */
    gr_tried *files;     /* [files] by position in order */
    int64_t first, rows; /* where in the images this class lies, and how many it may have */
    int64_t tried, good; /* so far */
} gr_class_state;

/* One file to decode. */
typedef struct {
    int class;
    int64_t position; /* in the order of its class */
    int64_t row;      /* of the images, where it goes */
    gr_decoded result;
    bool filtered; /* left out by the filter, not for want of decoding */
    int64_t size;  /* bytes of the file */
    uint32_t crc;
    char reason[GR__REASON_SIZE];
} gr_task;

typedef struct {
    gr_context *ctx;
    const gr_image_options *options;
    gr_files files;
    int n_classes;
    gr_class_state *classes; /* [n_classes] */
    gr_images *images;
    gr_task *tasks; /* of a round */
    int64_t n_tasks;
    _Atomic int64_t next_task; /* that no thread has taken */
    int64_t filtered;          /* files so far that the filter left out */
    gr_workers workers;
} gr_reader;

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

static const char *file_name(const gr_reader *r, int class, int64_t position)
{
    return r->files.listing.classes[class].files[r->classes[class].order[position]];
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

/* The next round: every class tries as many files as it lacks images. False: nothing is left to try. */
static bool plan_round(gr_reader *r)
{
    r->n_tasks = 0;
    for (int c = 0; c < r->files.listing.n; c++) {
        gr_class_state *state = &r->classes[c];
        for (int64_t row = state->good; row < state->rows && state->tried < r->files.listing.classes[c].n; row++)
            r->tasks[r->n_tasks++] = (gr_task){.class = c, .position = state->tried++, .row = state->first + row};
    }
    return r->n_tasks > 0;
}

/* From the bytes of a file to its row of the images, unless the filter leaves it out. */
static void decode_bytes(const gr_reader *r, gr_task *task, const uint8_t *bytes, size_t size)
{
    gr_picture picture;
    const char *fault = gr__filter_fault(r->options->filter, bytes, (int64_t)size);
    task->size = (int64_t)size;
    task->crc = (uint32_t)crc32_z(0, bytes, size);
    if (fault) {
        task->filtered = true;
        task->result = GR__UNDECODABLE;
        snprintf(task->reason, sizeof task->reason, "%s", fault);
        return;
    }
    if (r->images->pixels) {
        const int64_t to[2] = {r->images->height, r->images->width};
        task->result = gr__decode_resized(bytes, size, to, gr__image_at(r->images, task->row), task->reason);
    } else if ((task->result = gr__decode_bytes(bytes, size, &picture, task->reason)) == GR__DECODED) {
        gr__picture_free(&picture); /* it can be decoded: that is all that was to be seen */
    }
}

static void decode_task(gr_reader *r, gr_task *task)
{
    uint8_t *buffer;
    const uint8_t *bytes;
    size_t size;
    const int64_t which = r->classes[task->class].order[task->position];
    task->result = gr__files_read(&r->files, task->class, which, &buffer, &bytes, &size, task->reason);
    if (task->result == GR__DECODED)
        decode_bytes(r, task, bytes, size);
    free(buffer);
}

/*
 * What one thread does of a round. Pictures differ in size, one class from another too: no share is fixed beforehand.
 */
static void decode_some(void *arg, int64_t thread)
{
    (void)thread;
    gr_reader *r = arg;
    for (int64_t i = r->next_task++; i < r->n_tasks; i = r->next_task++)
        decode_task(r, &r->tasks[i]);
}

static void move_rows(gr_images *images, int64_t to, int64_t from, int64_t n)
{
    if (to != from && images->pixels)
        memmove(gr__image_at(images, to), gr__image_at(images, from), (size_t)(n * gr__image_bytes(images)));
}

/* Closes the gaps of a round and notes what was left out. */
static bool gather_round(gr_reader *r)
{
    for (int64_t i = 0; i < r->n_tasks; i++) {
        gr_task *task = &r->tasks[i];
        gr_class_state *state = &r->classes[task->class];
        gr_tried *file = &state->files[task->position];
        file->size = task->size;
        file->crc = task->crc;
        if (task->result == GR__DECODED) {
            move_rows(r->images, state->first + state->good++, task->row, 1);
            continue;
        }
        file->filtered = task->filtered;
        r->filtered += task->filtered;
        if (task->result == GR__UNDECODABLE)
            file->fault = strdup(task->reason);
        if (!file->fault)
            return gr__fail(r->ctx, GR_NO_MEMORY, "out of host memory while decoding %s/%s/%s", r->files.root,
                            r->files.listing.classes[task->class].name, file_name(r, task->class, task->position));
        r->images->skipped++;
    }
    return true;
}

/* Tells the caller of every file that was left out, and of every one that was taken; hashes the manifest. */
static void report(gr_reader *r)
{
    gr_sha256 sha;
    gr__sha256_begin(&sha);
    for (int c = 0; c < r->files.listing.n; c++)
        for (int64_t i = 0; i < r->classes[c].tried; i++) {
            const gr_tried *tried = &r->classes[c].files[i];
            char file[GR__FILE_NAME_SIZE], line[GR__FILE_NAME_SIZE + 32];
            snprintf(file, sizeof file, "%s/%s", r->files.listing.classes[c].name, file_name(r, c, i));
            if (tried->fault) {
                if (r->options->skipped && r->options->filter != GR_FILTER_NONE) /* which leaves nothing out */
                    r->options->skipped(r->options->user, file, tried->fault);
                continue;
            }
            int length = snprintf(line, sizeof line, "%s %lld %08x\n", file, (long long)tried->size, tried->crc);
            gr__sha256_add(&sha, line, (size_t)length);
            if (r->options->taken)
                r->options->taken(r->options->user, line);
        }
    gr__sha256_end(&sha, r->images->manifest);
}

/* The first file that could not be decoded, filtered ones aside: its name and why. */
static void first_bad(const gr_reader *r, char *text, size_t size)
{
    text[0] = '\0';
    for (int c = 0; c < r->files.listing.n && !text[0]; c++)
        for (int64_t i = 0; i < r->classes[c].tried && !text[0]; i++) {
            const gr_tried *tried = &r->classes[c].files[i];
            if (tried->fault && !tried->filtered)
                snprintf(text, size, "%s/%s: %s", r->files.listing.classes[c].name, file_name(r, c, i), tried->fault);
        }
}

/* Whether what was read will do. */
static bool check_result(const gr_reader *r)
{
    char first[GR__FILE_NAME_SIZE + GR__REASON_SIZE];
    double allowed = r->options->allow_bad > 0 ? r->options->allow_bad : 0.01;
    int64_t tried = 0, bad = r->images->skipped - r->filtered;
    for (int c = 0; c < r->files.listing.n; c++)
        tried += r->classes[c].tried;
    first_bad(r, first, sizeof first);
    if (bad && r->options->filter == GR_FILTER_NONE)
        return gr__fail(
            r->ctx, GR_BAD_DATA,
            "%lld of %lld image files in %s cannot be decoded, and the filter none takes all; the first is %s; "
            "the filter decodable leaves them out",
            (long long)bad, (long long)tried, r->files.root, first);
    if ((double)bad > allowed * (double)tried)
        return gr__fail(
            r->ctx, GR_BAD_DATA,
            "%lld of %lld image files in %s cannot be decoded (%.1f %%, allowed are %g %%), the first is %s; "
            "mend or remove them, or allow more",
            (long long)bad, (long long)tried, r->files.root, 100 * (double)bad / (double)tried, 100 * allowed, first);
    for (int c = 0; c < r->files.listing.n; c++)
        if (r->classes[c].good == 0)
            return gr__fail(r->ctx, GR_BAD_DATA, "no image in %s/%s can be %s; add good ones or remove the folder",
                            r->files.root, r->files.listing.classes[c].name,
                            r->filtered ? "decoded and passes the filter" : "decoded");
    return true;
}

/* Brings the classes together where one has got fewer images than it has room for, and writes the labels. */
static void compact(gr_reader *r)
{
    int64_t n = 0;
    for (int c = 0; c < r->files.listing.n; c++) {
        const gr_class_state *state = &r->classes[c];
        move_rows(r->images, n, state->first, state->good);
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
    while (plan_round(r)) {
        r->next_task = 0;
        gr_parallel_for(&r->workers.exec, gr__pool_threads(r->workers.exec.pool), decode_some, r);
        if (!gather_round(r))
            return false;
    }
    report(r);
    if (!check_result(r))
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
    if (!gr_ok(ctx) || !check_options(ctx, root, options))
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
