/*
 * cifar10.c - the binary version of CIFAR-10 (Krizhevsky 2009): six files of 10,000 records; a record is a label byte
 * and 32 x 32 bytes each of red, green and blue. Format: https://www.cs.toronto.edu/~kriz/cifar.html
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/dataset.h"
#include "data/formats/cifar10.h"
#include "data/formats/tar.h"

enum {
    FILES = 6,
    RECORDS = 10000,
    SIDE = 32,
    PLANE = SIDE * SIDE,
    RECORD = 1 + 3 * PLANE,
    CLASSES = 10,
    PATH_SIZE = 4096
};

/* In the order of their images in the set: 50,000 to train on, 10,000 to test with. */
static const char *const file_names[FILES] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                              "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};

static const char *const class_names[CLASSES] = {"airplane", "automobile", "bird",  "cat",  "deer",
                                                 "dog",      "frog",       "horse", "ship", "truck"};

static const char folder_name[] = "cifar-10-batches-bin", archive_name[] = "cifar-10-binary.tar.gz";

/* A reading in progress. */
typedef struct {
    gr_context *ctx;
    const char *path; /* folder or archive, for messages */
    gr_images *images;
    int64_t n;        /* records of a file */
    uint8_t *records; /* [n, RECORD], one file */
    bool have[FILES];
} gr_cifar;

/* pixels[SIDE, SIDE, 3] from planes[3, SIDE, SIDE] */
static void interleave(const uint8_t *planes, uint8_t *pixels)
{
    for (int i = 0; i < PLANE; i++)
        for (int c = 0; c < 3; c++)
            pixels[i * 3 + c] = planes[c * PLANE + i];
}

/* Takes the records of one file over into the images. */
static bool take_records(gr_cifar *cifar, int file)
{
    for (int64_t i = 0; i < cifar->n; i++) {
        const uint8_t *record = cifar->records + i * RECORD;
        int64_t row = file * cifar->n + i;
        if (record[0] >= CLASSES)
            return gr__fail(
                cifar->ctx, GR_BAD_DATA,
                "%s in %s: record %lld has label %d, CIFAR-10 knows 0 to 9; the file is damaged, fetch it again",
                file_names[file], cifar->path, (long long)i, record[0]);
        cifar->images->labels[row] = record[0];
        interleave(record + 1, gr__image_at(cifar->images, row));
    }
    cifar->have[file] = true;
    return true;
}

static bool check_size(const gr_cifar *cifar, int file, int64_t bytes)
{
    const int64_t right = cifar->n * RECORD;
    return bytes == right ||
           gr__fail(cifar->ctx, GR_BAD_DATA,
                    "%s in %s has %lld bytes, not the %lld of %lld records; %s, fetch it again", file_names[file],
                    cifar->path, (long long)bytes, (long long)right, (long long)cifar->n,
                    bytes < right ? "it is cut short" : "it is not the binary version of CIFAR-10");
}

/*
 * Room for the images and a file of them, once there is a file of the right size: not before, as an archive may hold
 * none.
 */
static bool make_room(gr_cifar *cifar)
{
    if (cifar->records)
        return true;
    cifar->images = gr__images_new(cifar->ctx, FILES * cifar->n, (int64_t[]){SIDE, SIDE, 3}, CLASSES);
    cifar->records = gr__host_alloc(cifar->ctx, cifar->n, RECORD, "a file of CIFAR-10");
    for (int c = 0; cifar->images && c < CLASSES; c++)
        gr__images_name(cifar->ctx, cifar->images, c, class_names[c]);
    return gr_ok(cifar->ctx);
}

/* Reads one file of the folder. */
static bool read_file(gr_cifar *cifar, int file)
{
    char path[PATH_SIZE + 64];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", cifar->path, file_names[file]);
    if (stat(path, &status) != 0)
        return gr__fail(cifar->ctx, errno == ENOENT ? GR_BAD_DATA : gr__io_code(errno),
                        "CIFAR-10: %s: %s; fetch the set again (scripts/get_data.sh cifar10)", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return gr__fail(cifar->ctx, GR_BAD_DATA, "CIFAR-10: %s is not a regular file", path);
    if (!check_size(cifar, file, status.st_size) || !make_room(cifar))
        return false;
    FILE *in = fopen(path, "rb");
    errno = in ? 0 : errno;
    bool read = in && fread(cifar->records, RECORD, (size_t)cifar->n, in) == (size_t)cifar->n;
    int why = errno;
    if (in)
        fclose(in);
    if (!read)
        return gr__fail(cifar->ctx, gr__io_code(why), "CIFAR-10: %s cannot be read: %s", path,
                        why ? strerror(why) : "it has become shorter");
    return take_records(cifar, file);
}

static bool read_folder(gr_cifar *cifar)
{
    for (int file = 0; file < FILES; file++)
        if (!read_file(cifar, file))
            return false;
    return true;
}

/* Which of the six files a member of the archive is; -1: none. */
static int which_file(const char *member)
{
    const char *slash = strrchr(member, '/');
    for (int file = 0; file < FILES; file++)
        if (strcmp(slash ? slash + 1 : member, file_names[file]) == 0)
            return file;
    return -1;
}

static bool fail_archive(const gr_cifar *cifar, const gr_tar *tar)
{
    const int error = gr__tar_error(tar);
    return gr__fail(cifar->ctx, error ? gr__io_code(error) : GR_BAD_DATA,
                    "CIFAR-10 archive %s cannot be read: %s; fetch it again", cifar->path, gr__tar_fault(tar));
}

static bool read_members(gr_cifar *cifar, gr_tar *tar)
{
    char name[GR__TAR_NAME];
    int64_t size;
    int next;
    while ((next = gr__tar_next(tar, name, &size)) > 0) {
        int file = which_file(name);
        if (file < 0)
            continue;
        if (cifar->have[file])
            return gr__fail(cifar->ctx, GR_BAD_DATA, "CIFAR-10 archive %s holds %s twice; fetch it again", cifar->path,
                            file_names[file]);
        if (!check_size(cifar, file, size) || !make_room(cifar))
            return false;
        if (!gr__tar_read(tar, cifar->records, size))
            return fail_archive(cifar, tar);
        if (!take_records(cifar, file))
            return false;
    }
    if (next < 0)
        return fail_archive(cifar, tar);
    for (int file = 0; file < FILES; file++)
        if (!cifar->have[file])
            return gr__fail(cifar->ctx, GR_BAD_DATA,
                            "CIFAR-10 archive %s holds no %s; the binary version is needed (%s)", cifar->path,
                            file_names[file], archive_name);
    return true;
}

static bool read_archive(gr_cifar *cifar)
{
    gr_tar *tar = gr__tar_open(cifar->path);
    if (!tar)
        return gr__fail(cifar->ctx, gr__io_code(errno), "CIFAR-10 archive %s cannot be opened: %s", cifar->path,
                        strerror(errno));
    bool read = read_members(cifar, tar);
    gr__tar_close(tar);
    return read;
}

/* 0: nothing is there, or it is recorded that the system cannot tell. */
static mode_t kind(gr_context *ctx, const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return status.st_mode;
    if (!gr__is_paths_fault(errno))
        gr__fail(ctx, gr__io_code(errno), "CIFAR-10: %s cannot be looked at: %s", path, strerror(errno));
    return 0;
}

/* Finds the folder of the six files or the archive at or in path, and its path. */
static bool find(gr_context *ctx, const char *path, char found[PATH_SIZE], bool *archive)
{
    struct stat status;
    *archive = false;
    if (strlen(path) + 64 > PATH_SIZE)
        return gr__fail(ctx, GR_BAD_DATA, "the path of the CIFAR-10 data is too long (%zu characters)", strlen(path));
    if (stat(path, &status) != 0)
        return gr__fail(ctx, errno == ENOENT || errno == ENOTDIR ? GR_BAD_DATA : gr__io_code(errno),
                        "CIFAR-10: %s: %s; give the folder %s, the folder that holds it, or %s", path, strerror(errno),
                        folder_name, archive_name);
    if (!S_ISDIR(status.st_mode)) {
        snprintf(found, PATH_SIZE, "%s", path);
        *archive = S_ISREG(status.st_mode);
        return *archive || gr__fail(ctx, GR_BAD_DATA, "CIFAR-10: %s is neither a folder nor a file", path);
    }
    snprintf(found, PATH_SIZE, "%s/%s", path, folder_name);
    if (S_ISDIR(kind(ctx, found)))
        return gr_ok(ctx);
    for (int file = 0; file < FILES; file++) {
        snprintf(found, PATH_SIZE, "%s/%s", path, file_names[file]);
        if (kind(ctx, found)) {
            snprintf(found, PATH_SIZE, "%s", path);
            return gr_ok(ctx);
        }
    }
    snprintf(found, PATH_SIZE, "%s/%s", path, archive_name);
    *archive = S_ISREG(kind(ctx, found));
    return *archive ? gr_ok(ctx)
                    : gr__fail(ctx, GR_BAD_DATA,
                               "CIFAR-10: %s holds neither %s nor data_batch_1.bin nor %s; fetch the set with "
                               "scripts/get_data.sh cifar10 (the Python and Matlab versions are not read)",
                               path, folder_name, archive_name);
}

gr_split gr__cifar10_of(gr_context *ctx, const char *path, int64_t records)
{
    gr_split split = {0};
    char found[PATH_SIZE];
    bool archive;
    if (!gr_ok(ctx))
        return split;
    if (!path || !*path) {
        gr__fail(ctx, GR_USAGE, "gr_cifar10 wants the path of the data");
        return split;
    }
    if (!find(ctx, path, found, &archive))
        return split;
    gr_cifar cifar = {.ctx = ctx, .path = found, .n = records};
    bool read = (archive ? read_archive : read_folder)(&cifar);
    free(cifar.records);
    if (!read) {
        gr__images_free(cifar.images);
        return split;
    }
    gr_dataset *all = gr__dataset_own(ctx, cifar.images);
    split.train = gr__dataset_range(all, 0, (FILES - 1) * records);
    split.test = gr__dataset_range(all, (FILES - 1) * records, records);
    return split;
}

gr_split gr_cifar10(gr_context *ctx, const char *path)
{
    return gr__cifar10_of(ctx, path, RECORDS);
}
