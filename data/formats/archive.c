/* archive.c - opening a zip or tar archive, and what holds of all of its members together. */
#include "data/formats/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const gr_member *const *)a)->name, (*(const gr_member *const *)b)->name);
}

/* Two members of one name: which of them a reader gets would depend on the reader. */
static bool check_duplicates(gr_context *ctx, const gr_archive *archive)
{
    const gr_member **sorted = gr__calloc(ctx, (size_t)archive->n + 1, sizeof *sorted);
    if (!sorted)
        return false;
    for (int64_t i = 0; i < archive->n; i++)
        sorted[i] = &archive->members[i];
    qsort(sorted, (size_t)archive->n, sizeof *sorted, by_name);
    bool unique = true;
    for (int64_t i = 1; i < archive->n && unique; i++)
        if (by_name(&sorted[i - 1], &sorted[i]) == 0)
            unique = gr__archive_refuse(ctx, archive, "it holds %s twice", sorted[i]->name);
    free(sorted);
    return unique;
}

static bool map_file(gr_context *ctx, gr_archive *archive)
{
    int file = open(archive->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not hold us up */
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        int why = errno;
        if (file >= 0)
            close(file);
        return gr__fail(ctx, why == ENOENT || why == ENOTDIR ? GR_BAD_DATA : gr__io_code(why), "archive %s: %s",
                        archive->path, strerror(why));
    }
    archive->file_size = archive->map_size = S_ISREG(status.st_mode) ? status.st_size : 0;
    archive->map =
        archive->map_size ? mmap(NULL, (size_t)archive->map_size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    int why = errno;
    close(file);
    if (archive->map != MAP_FAILED)
        return true;
    archive->map = NULL;
    if (archive->map_size)
        return gr__fail(ctx, gr__io_code(why), "archive %s cannot be mapped: %s", archive->path, strerror(why));
    return gr__archive_refuse(ctx, archive, S_ISREG(status.st_mode) ? "it is empty" : "it is not a regular file");
}

/* Fills members by the format that the first bytes tell. */
static bool fill(gr_context *ctx, gr_archive *archive)
{
    archive->bytes = archive->map;
    archive->size = archive->map_size;
    bool zip = archive->size >= 4 && memcmp(archive->bytes, "PK", 2) == 0;
    bool gzip = archive->size >= 2 && memcmp(archive->bytes, "\x1f\x8b", 2) == 0;
    bool tar = archive->size >= 512 && memcmp(archive->bytes + 257, "ustar", 5) == 0;
    if (zip)
        return gr__zip_index(ctx, archive);
    if (gzip || tar)
        return gr__tar_index(ctx, archive);
    return gr__archive_refuse(ctx, archive,
                              "it is no .zip, .tar or .tar.gz, by its first bytes; a packed "
                              "set has a name that ends in .grd, other sets are folders");
}

bool gr__archive_open(gr_context *ctx, const char *path, gr_archive *archive)
{
    *archive = (gr_archive){.path = path};
    if (map_file(ctx, archive) && fill(ctx, archive) && check_duplicates(ctx, archive))
        return true;
    gr__archive_close(archive);
    return false;
}

void gr__archive_close(gr_archive *archive)
{
    for (int64_t i = 0; i < archive->n; i++)
        free(archive->members[i].name);
    free(archive->members);
    free(archive->held);
    if (archive->map)
        munmap(archive->map, (size_t)archive->map_size);
    *archive = (gr_archive){0};
}
