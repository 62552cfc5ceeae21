/*
 * idx.c - sets in the idx format of MNIST (LeCun, Cortes and Burges, "The MNIST database"): after two zero bytes the
 * type of the elements (8: u8) and the number of dimensions, then each dimension as a big-endian 32-bit number, then
 * the elements. Fashion-MNIST, KMNIST and EMNIST come in the same four files.
 *
 * A header is believed only as far as its file can bear it out, so that a few bytes never ask for gigabytes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "data/dataset.h"

enum {
    FILES = 4,
    PATH_SIZE = 4096,
    MAX_SIDE = 16384,  /* pixels, as of any image */
    MAX_CLASSES = 100, /* EMNIST, the largest of these sets, has 62; a label beyond is damage */
    U8_ELEMENTS = 8,
    DEFLATE_RATIO = 1032 /* deflate packs at most 258 bytes into 2 bits */
};

enum { TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS };

/* Names are STEM-idxD-ubyte or STEM.idxD-ubyte, with or without .gz; D dimensions. */
static const struct {
    const char *stem, *holds;
    int dimensions;
} layout[FILES] = {{"train-images", "images", 3},
                   {"train-labels", "labels", 1},
                   {"t10k-images", "images", 3},
                   {"t10k-labels", "labels", 1}};

/* One of the four, open behind its header. */
typedef struct {
    char path[PATH_SIZE + 64];
    gzFile in;                /* reads plain files too */
    int64_t n, height, width; /* of labels: height = width = 1 */
} idx_file;

/* 0: nothing is there, or it is recorded that the system cannot tell. */
static mode_t kind(gr_context *ctx, const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return status.st_mode;
    if (errno == EACCES || !gr__is_paths_fault(errno))
        gr__fail(ctx, gr__io_code(errno), "%s cannot be looked for: %s", path, strerror(errno));
    return 0;
}

/* Finds file number which of the set in folder; false: it is not there, and path is its usual name, or recorded. */
static bool find_file(gr_context *ctx, const char *folder, int which, char path[PATH_SIZE + 64])
{
    static const char *const forms[] = {"-", "", ".", "", "-", ".gz", ".", ".gz"}; /* before idx, at the end */
    for (int i = 6; i >= 0; i -= 2) {
        snprintf(path, PATH_SIZE + 64, "%s/%s%sidx%d-ubyte%s", folder, layout[which].stem, forms[i],
                 layout[which].dimensions, forms[i + 1]);
        if (S_ISREG(kind(ctx, path)))
            return gr_ok(ctx);
    }
    return false;
}

/* Records what zlib says, where it is not the file's fault: the system's, or memory that was out. */
static bool system_failed(gr_context *ctx, const idx_file *f, int code)
{
    const int error = code == Z_MEM_ERROR ? ENOMEM : errno;
    return (code == Z_ERRNO || code == Z_MEM_ERROR) &&
           !gr__fail(ctx, gr__io_code(error), "%s cannot be read: %s", f->path, strerror(error));
}

/* Exactly n bytes of the unpacked contents. */
static bool get(gr_context *ctx, idx_file *f, void *p, int64_t n)
{
    while (n > 0) {
        int code, got = gzread(f->in, p, (unsigned)(n < 1 << 30 ? n : 1 << 30));
        gzerror(f->in, &code);
        if (got > 0 && (code == Z_OK || code == Z_STREAM_END)) {
            p = (char *)p + got;
            n -= got;
            continue;
        }
        if (system_failed(ctx, f, code))
            return false;
        bool damaged = code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR;
        return gr__fail(ctx, GR_BAD_DATA, "%s is %s; fetch it again", f->path, damaged ? "damaged" : "cut short");
    }
    return true;
}

/* Nothing may stand behind the elements. Reading past them is also what makes zlib verify the check sum. */
static bool at_end(gr_context *ctx, idx_file *f)
{
    uint8_t more;
    int code, got = gzread(f->in, &more, 1);
    gzerror(f->in, &code);
    if (got == 0 && (code == Z_OK || code == Z_STREAM_END))
        return true;
    if (system_failed(ctx, f, code))
        return false;
    return gr__fail(ctx, GR_BAD_DATA, "%s %s; fetch it again", f->path,
                    got > 0               ? "goes on behind its last element"
                    : code == Z_BUF_ERROR ? "is cut short"
                                          : "is damaged at its end");
}

/* Whether a file of so many bytes can hold what its header promises. */
static bool check_bytes(gr_context *ctx, const idx_file *f, int64_t header, int64_t bytes)
{
    int64_t wanted = header + f->n * f->height * f->width; /* below 2^61 */
    if (gzdirect(f->in) && bytes != wanted)
        return gr__fail(ctx, GR_BAD_DATA, "%s has %lld bytes, its header asks for %lld; %s, fetch it again", f->path,
                        (long long)bytes, (long long)wanted, bytes < wanted ? "it is cut short" : "it is damaged");
    if (wanted / DEFLATE_RATIO > bytes)
        return gr__fail(ctx, GR_BAD_DATA,
                        "%s has %lld bytes and cannot unpack to the %lld of its header; fetch it again", f->path,
                        (long long)bytes, (long long)wanted);
    return true;
}

static int64_t be32(const uint8_t *p)
{
    return (int64_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static bool read_header(gr_context *ctx, idx_file *f, int which, int64_t bytes)
{
    uint8_t h[16];
    int dimensions = layout[which].dimensions;
    int64_t size = 4 + 4 * dimensions;
    if (!get(ctx, f, h, size))
        return false;
    if (h[0] || h[1] || h[2] != U8_ELEMENTS || h[3] != dimensions)
        return gr__fail(
            ctx, GR_BAD_DATA,
            "%s begins with %02x%02x%02x%02x, an idx file of %s with 0000080%d; it is another file or damaged, "
            "fetch it again",
            f->path, h[0], h[1], h[2], h[3], layout[which].holds, dimensions);
    f->n = be32(h + 4);
    f->height = dimensions == 3 ? be32(h + 8) : 1;
    f->width = dimensions == 3 ? be32(h + 12) : 1;
    if (f->n < 1 || f->height < 1 || f->width < 1 || f->height > MAX_SIDE || f->width > MAX_SIDE)
        return gr__fail(
            ctx, GR_BAD_DATA,
            "%s says that it holds %lld %s of %lld x %lld; at least one of 1 to %d pixels a side is expected, "
            "fetch it again",
            f->path, (long long)f->n, layout[which].holds, (long long)f->height, (long long)f->width, MAX_SIDE);
    return check_bytes(ctx, f, size, bytes);
}

static bool open_file(gr_context *ctx, const char *folder, int which, idx_file *f)
{
    struct stat status;
    if (!find_file(ctx, folder, which, f->path))
        return gr__fail(
            ctx, GR_BAD_DATA,
            "%s is not there, nor with .gz or with a dot before idx; put the set's four files into that folder",
            f->path);
    f->in = gzopen(f->path, "rbe");
    if (!f->in || stat(f->path, &status) != 0) {
        const int error = errno ? errno : ENOMEM;
        return gr__fail(ctx, gr__io_code(error), "%s cannot be opened: %s", f->path, strerror(error));
    }
    gzbuffer(f->in, 1 << 17);
    return read_header(ctx, f, which, status.st_size);
}

/* That the four files belong together. */
static bool check_set(gr_context *ctx, const idx_file *files)
{
    for (int i = TRAIN_IMAGES; i <= TEST_IMAGES; i += 2)
        if (files[i].n != files[i + 1].n)
            return gr__fail(ctx, GR_BAD_DATA, "%s has %lld labels for the %lld images of %s; fetch both again",
                            files[i + 1].path, (long long)files[i + 1].n, (long long)files[i].n, files[i].path);
    const idx_file *train = &files[TRAIN_IMAGES], *test = &files[TEST_IMAGES];
    return (train->height == test->height && train->width == test->width) ||
           gr__fail(ctx, GR_BAD_DATA,
                    "%s has images of %lld x %lld pixels, %s of %lld x %lld; they are of different sets", test->path,
                    (long long)test->height, (long long)test->width, train->path, (long long)train->height,
                    (long long)train->width);
}

/* Labels from row first on; classes grows to the largest of them and one. */
static bool read_labels(gr_context *ctx, idx_file *f, gr_images *images, int64_t first, int *classes)
{
    uint8_t part[4096];
    for (int64_t i = 0, n; i < f->n; i += n) {
        n = f->n - i < (int64_t)sizeof part ? f->n - i : (int64_t)sizeof part;
        if (!get(ctx, f, part, n))
            return false;
        for (int64_t k = 0; k < n; k++) {
            if (part[k] >= MAX_CLASSES)
                return gr__fail(ctx, GR_BAD_DATA,
                                "%s: label number %lld is %d, more than %d; it is damaged, fetch it again", f->path,
                                (long long)(i + k), part[k], MAX_CLASSES - 1);
            images->labels[first + i + k] = part[k];
            *classes = part[k] >= *classes ? part[k] + 1 : *classes;
        }
    }
    return at_end(ctx, f);
}

static bool read_part(gr_context *ctx, idx_file *pair, gr_images *images, int64_t first, int *classes)
{
    return get(ctx, &pair[0], gr__image_at(images, first), pair[0].n * gr__image_bytes(images)) &&
           at_end(ctx, &pair[0]) && read_labels(ctx, &pair[1], images, first, classes);
}

/* Classes are named by their label: the files name them no other way. */
static bool name_classes(gr_context *ctx, gr_images *images, int classes)
{
    char name[16];
    images->classes = classes;
    for (int c = 0; c < classes; c++) {
        snprintf(name, sizeof name, "%d", c);
        if (!gr__images_name(ctx, images, c, name))
            return false;
    }
    return true;
}

/* All images, those to train on first. NULL: recorded. */
static gr_images *read_set(gr_context *ctx, const char *folder, idx_file *files)
{
    for (int i = 0; i < FILES; i++)
        if (!open_file(ctx, folder, i, &files[i]))
            return NULL;
    if (!check_set(ctx, files))
        return NULL;
    const idx_file *train = &files[TRAIN_IMAGES], *test = &files[TEST_IMAGES];
    gr_images *images =
        gr__images_new(ctx, train->n + test->n, (int64_t[]){train->height, train->width, 1}, MAX_CLASSES);
    int classes = 2;
    if (images && read_part(ctx, &files[TRAIN_IMAGES], images, 0, &classes) &&
        read_part(ctx, &files[TEST_IMAGES], images, train->n, &classes) && name_classes(ctx, images, classes))
        return images;
    gr__images_free(images);
    return NULL;
}

gr_split gr_idx(gr_context *ctx, const char *folder)
{
    gr_split split = {0};
    char raw[PATH_SIZE];
    if (!gr_ok(ctx))
        return split;
    if (!folder || !*folder || strlen(folder) + 64 > PATH_SIZE) {
        gr__fail(ctx, GR_USAGE, "gr_idx wants the folder of the four idx files, a path of 1 to %d characters",
                 PATH_SIZE - 64);
        return split;
    }
    snprintf(raw, sizeof raw, "%s/raw", folder); /* where torchvision puts them */
    idx_file *files = gr__calloc(ctx, FILES, sizeof *files);
    bool below = files && !find_file(ctx, folder, TRAIN_IMAGES, files->path) && kind(ctx, raw) != 0;
    gr_images *images = files ? read_set(ctx, below ? raw : folder, files) : NULL;
    for (int i = 0; files && i < FILES; i++)
        if (files[i].in)
            gzclose(files[i].in);
    if (images) {
        gr_dataset *all = gr__dataset_own(ctx, images);
        split.train = gr__dataset_range(all, 0, files[TRAIN_IMAGES].n);
        split.test = gr__dataset_range(all, files[TRAIN_IMAGES].n, files[TEST_IMAGES].n);
    }
    free(files);
    return split;
}
