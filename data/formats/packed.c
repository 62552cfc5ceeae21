/*
 * packed.c - opens a packed data set: the file is mapped, all of it checked once by several threads, and its pixels are
 * used where they lie. Format in packed.h.
 *
 * A file that is cut short by somebody else while it is mapped brings SIGBUS, as with any mapped file; the tool then
 * names the file and ends.
 */
#include "data/formats/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/philox.h"
#include "data/dataset.h"
#include "data/workers.h"

enum {
    MAX_SIDE = 16384,
    MAX_CLASSES = 1 << 20,
    MAX_FILES = 1 << 26, /* of one class */
    CHUNK = 16           /* images that a thread checks at a time */
};

typedef struct {
    gr_context *ctx;
    const char *path;
    const uint8_t *bytes; /* [size] the mapped file */
    int64_t size;
    int64_t n, shape[3], classes, class_bytes;
    const uint8_t *image_table, *pixels;
    gr_images *images;
    _Atomic int64_t damaged; /* the first image whose pixels are; n: none so far */
} gr_unpacker;

static bool refuse(const gr_unpacker *u, const char *why)
{
    return gr__fail(u->ctx, GR_BAD_DATA, "packed set %s is refused: %s; pack the set again", u->path, why);
}

bool gr__packed_name(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 127 || name[i] == '/')
            return false;
    return length > 0 && length <= GR__PACKED_NAME;
}

static bool map_file(gr_unpacker *u)
{
    struct stat status;
    int file = open(u->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not hold us up */
    if (file < 0 || fstat(file, &status) != 0) {
        int why = errno;
        if (file >= 0)
            close(file);
        return gr__fail(u->ctx, why == ENOENT || why == ENOTDIR ? GR_BAD_DATA : gr__io_code(why), "packed set %s: %s",
                        u->path, strerror(why));
    }
    bool regular = S_ISREG(status.st_mode), large_enough = status.st_size >= GR__PACKED_HEADER;
    void *map =
        regular && large_enough ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    int why = errno;
    close(file);
    if (!regular || !large_enough)
        return refuse(u, regular ? "it is cut short within its header" : "it is not a regular file");
    if (map == MAP_FAILED)
        return gr__fail(u->ctx, gr__io_code(why), "packed set %s cannot be mapped: %s", u->path, strerror(why));
    u->bytes = map;
    u->size = status.st_size;
    return true;
}

/* The header by itself: that it is one, undamaged, and asks for nothing that cannot be. */
static bool read_header(gr_unpacker *u)
{
    const uint8_t *h = u->bytes;
    char why[128];
    if (memcmp(h, gr__packed_magic, sizeof gr__packed_magic) != 0)
        return refuse(u, "it is no packed set, by its first bytes");
    uint64_t version = gr__get_le(h + GR__PACKED_VERSION_AT, 4), n = gr__get_le(h + GR__PACKED_N_AT, 8);
    snprintf(why, sizeof why, "it has version %" PRIu64 " of the format, this program reads %d", version,
             GR__PACKED_VERSION);
    if (version != GR__PACKED_VERSION)
        return refuse(u, why);
    if (gr__checksum(h, GR__PACKED_HEADER_SUM_AT) != gr__get_le(h + GR__PACKED_HEADER_SUM_AT, 8))
        return refuse(u, "its header is damaged (check sum)");
    for (int i = 0; i < 3; i++)
        u->shape[i] = (int64_t)gr__get_le(h + GR__PACKED_SHAPE_AT + 4 * i, 4);
    u->classes = (int64_t)gr__get_le(h + GR__PACKED_SHAPE_AT + 12, 4);
    u->class_bytes = (int64_t)gr__get_le(h + GR__PACKED_CLASS_BYTES_AT, 4);
    bool sides = u->shape[0] >= 1 && u->shape[0] <= MAX_SIDE && u->shape[1] >= 1 && u->shape[1] <= MAX_SIDE;
    if (!sides || (u->shape[2] != 1 && u->shape[2] != 3))
        return refuse(u, "its header asks for images of a size or number of channels that is not read");
    if (n < 1 || n > INT32_MAX || u->classes < 1 || u->classes > MAX_CLASSES)
        return refuse(u, "its header asks for a number of images or classes that is not read");
    u->n = (int64_t)n;
    return true;
}

/* That the file has just the bytes its header asks for. */
static bool check_size(gr_unpacker *u)
{
    int64_t tables_end = GR__PACKED_HEADER + u->class_bytes + u->n * GR__PACKED_IMAGE; /* all factors are below 2^32 */
    int64_t pixels = gr__round_up(tables_end, GR__PACKED_ALIGN);
    int64_t wanted = pixels + u->n * (u->shape[0] * u->shape[1] * u->shape[2]); /* below 2^62 */
    char why[128];
    if (gr__get_le(u->bytes + GR__PACKED_FILE_BYTES_AT, 8) != (uint64_t)wanted)
        return refuse(u, "its header contradicts itself about the file's size");
    snprintf(why, sizeof why, "it has %lld bytes, its header asks for %lld; it is %s", (long long)u->size,
             (long long)wanted, u->size < wanted ? "cut short" : "damaged at its end");
    if (u->size != wanted)
        return refuse(u, why);
    u->image_table = u->bytes + GR__PACKED_HEADER + u->class_bytes;
    u->pixels = u->bytes + pixels;
    if (gr__checksum(u->bytes + GR__PACKED_HEADER, tables_end - GR__PACKED_HEADER) !=
        gr__get_le(u->bytes + GR__PACKED_TABLES_SUM_AT, 8))
        return refuse(u, "its tables are damaged (check sum)");
    return true;
}

/* Images without pixels of their own: these stay in the file. */
static gr_images *new_images(gr_unpacker *u)
{
    gr_images *images = gr__calloc(u->ctx, 1, sizeof *images);
    if (!images)
        return NULL;
    *images = (gr_images){.n = u->n,
                          .height = u->shape[0],
                          .width = u->shape[1],
                          .channels = u->shape[2],
                          .classes = (int)u->classes,
                          .pixels = (uint8_t *)(uintptr_t)u->pixels,
                          .map = (void *)(uintptr_t)u->bytes,
                          .map_size = u->size};
    images->labels = gr__host_alloc(u->ctx, u->n, sizeof *images->labels, "the labels");
    images->places = gr__host_alloc(u->ctx, u->n, sizeof *images->places, "the files' places");
    images->files = gr__calloc(u->ctx, (size_t)u->classes, sizeof *images->files);
    images->names = gr__calloc(u->ctx, (size_t)u->classes, sizeof *images->names);
    return images;
}

static bool read_classes(gr_unpacker *u)
{
    const uint8_t *at = u->bytes + GR__PACKED_HEADER, *end = at + u->class_bytes;
    for (int64_t c = 0; c < u->classes; c++) {
        char name[GR__PACKED_NAME + 1];
        if (end - at < GR__PACKED_CLASS)
            return refuse(u, "its class table is too short");
        uint64_t files = gr__get_le(at, 8), length = gr__get_le(at + 8, 4);
        at += GR__PACKED_CLASS;
        if (length > (uint64_t)(end - at) || !gr__packed_name((const char *)at, length))
            return refuse(u, "a class in it has a name that cannot be");
        if (files > MAX_FILES)
            return refuse(u, "a class in it has more files than can be");
        memcpy(name, at, length);
        name[length] = '\0';
        at += length;
        u->images->files[c] = (int64_t)files;
        if (!gr__images_name(u->ctx, u->images, (int)c, name))
            return false;
    }
    return true;
}

static bool read_images(gr_unpacker *u)
{
    gr_images *images = u->images;
    for (int64_t i = 0; i < u->n; i++) {
        const uint8_t *p = u->image_table + i * GR__PACKED_IMAGE;
        uint64_t label = gr__get_le(p, 4), place = gr__get_le(p + 8, 8);
        char why[128];
        snprintf(why, sizeof why, "its image %lld has a label or a place that cannot be", (long long)i);
        if (label >= (uint64_t)u->classes || place >= (uint64_t)images->files[label])
            return refuse(u, why);
        images->labels[i] = (int32_t)label;
        images->places[i] = (int64_t)place;
        snprintf(why, sizeof why, "its image %lld is out of order", (long long)i);
        if (i > 0 && (images->labels[i] < images->labels[i - 1] ||
                      (images->labels[i] == images->labels[i - 1] && images->places[i] <= images->places[i - 1])))
            return refuse(u, why);
    }
    return true;
}

static void check_pixels(void *arg, int64_t chunk)
{
    gr_unpacker *u = arg;
    int64_t end = (chunk + 1) * CHUNK < u->n ? (chunk + 1) * CHUNK : u->n, bytes = gr__image_bytes(u->images);
    for (int64_t i = chunk * CHUNK; i < end; i++) {
        if (gr__checksum(u->pixels + i * bytes, bytes) == gr__get_le(u->image_table + i * GR__PACKED_IMAGE + 16, 8))
            continue;
        for (int64_t first = u->damaged; i < first;) /* the lowest number wins, whichever thread is first */
            if (atomic_compare_exchange_weak(&u->damaged, &first, i))
                break;
    }
}

static bool check_all_pixels(gr_unpacker *u)
{
    gr_workers workers;
    char why[128];
    if (!gr__workers_open(u->ctx, &workers))
        return false;
    u->damaged = u->n;
    gr_parallel_for(&workers.exec, (u->n + CHUNK - 1) / CHUNK, check_pixels, u);
    gr__workers_close(&workers);
    int64_t damaged = u->damaged;
    if (damaged == u->n)
        return true;
    snprintf(why, sizeof why, "its image %lld, file %lld of class %s, is damaged (check sum)", (long long)damaged,
             (long long)u->images->places[damaged], u->images->names[u->images->labels[damaged]]);
    return refuse(u, why);
}

/* The manifest's hash is printed, so it must be one. */
static bool read_manifest(gr_unpacker *u)
{
    const char *text = (const char *)u->bytes + GR__PACKED_MANIFEST_AT;
    if (text[0] == '\0')
        return true;
    memcpy(u->images->manifest, text, GR__PACKED_MANIFEST_SIZE);
    return strspn(u->images->manifest, "0123456789abcdef") == GR__PACKED_MANIFEST_SIZE ||
           refuse(u, "the hash of its manifest is none");
}

/* Which image of class c was file place; -1: none. first and n: where the class lies. */
static int64_t find_place(const gr_images *images, int64_t first, int64_t n, int64_t place)
{
    int64_t low = first, high = first + n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (images->places[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < first + n && images->places[low] == place ? low : -1;
}

/* Appends the first most images of class c, in the order in which its files would have been tried. */
static bool pick_class(gr_context *ctx, const gr_images *images, int c, const gr_packed_options *options,
                       int64_t *first, int64_t *picks, int64_t *n)
{
    int64_t in_class = 0, files = images->files[c], taken = 0, most = options->per_class;
    while (*first + in_class < images->n && images->labels[*first + in_class] == c)
        in_class++;
    int64_t *order = options->split_seed ? gr__host_alloc(ctx, files, sizeof *order, "the order of the files") : NULL;
    if (options->split_seed && !order)
        return false;
    if (order)
        gr__random_order(options->split_seed, GR_RNG_SPLIT, (uint32_t)c, files, order);
    for (int64_t i = 0; i < (order ? files : in_class) && (most == 0 || taken < most); i++) {
        int64_t row = order ? find_place(images, *first, in_class, order[i]) : *first + i;
        if (row >= 0) {
            picks[(*n)++] = row;
            taken++;
        }
    }
    free(order);
    *first += in_class;
    return true;
}

static gr_dataset *select_samples(gr_context *ctx, gr_dataset *set, const gr_packed_options *options)
{
    const gr_images *images = set->images;
    int64_t *picks = gr__host_alloc(ctx, images->n, sizeof *picks, "the samples of a packed set");
    int64_t first = 0, n = 0;
    bool good = picks;
    for (int c = 0; good && c < images->classes; c++)
        good = pick_class(ctx, images, c, options, &first, picks, &n);
    gr_dataset *part = good ? gr__dataset_subset(set, picks, n) : NULL;
    free(picks);
    return part;
}

/* Everything but the mapping. */
static bool unpack(gr_unpacker *u)
{
    if (!read_header(u) || !check_size(u))
        return false;
    u->images = new_images(u);
    return u->images && gr_ok(u->ctx) && read_manifest(u) && read_classes(u) && read_images(u) && check_all_pixels(u);
}

gr_dataset *gr_packed(gr_context *ctx, const char *path, const gr_packed_options *options)
{
    if (!gr_ok(ctx))
        return NULL;
    gr_unpacker u = {.ctx = ctx, .path = path ? path : ""};
    if (options && options->per_class < 0) {
        gr__fail(ctx, GR_USAGE, "per_class is %d; it must be at least 1, or 0 for all images", options->per_class);
        return NULL;
    }
    if (!map_file(&u))
        return NULL;
    if (!unpack(&u)) {
        if (u.images)
            gr__images_free(u.images);
        else
            munmap((void *)(uintptr_t)u.bytes, (size_t)u.size);
        return NULL;
    }
    gr_dataset *set = gr__dataset_own(ctx, u.images);
    bool whole = !options || (!options->per_class && !options->split_seed);
    return set && !whole ? select_samples(ctx, set, options) : set;
}
