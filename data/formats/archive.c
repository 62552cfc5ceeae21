/* archive.c - what zip and tar archives have in common: opening, the rules for members, reading one of them. */
#include "data/formats/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MAX_NAME = 1023, MAX_MEMBER = 1 << 30 /* bytes of one file; images end at 64 MiB */ };

bool gr__archive_refuse(gr_context *ctx, const gr_archive *archive, const char *format, ...)
{
    char why[512];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return gr__fail(ctx, GR_BAD_DATA, "archive %s is refused: %s", archive->path, why);
}

/* Whether ".." is one of the folders that name leads through. */
static bool climbs(const char *name)
{
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || part[2] == '\0'))
            return true;
    }
    return false;
}

/*
 * The first rule against a name; NULL: none. What the rule says can be printed with the name: control characters come
 * first.
 */
static const char *name_fault(const char *name, int64_t length)
{
    for (int64_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 127)
            return "a name with a control character in it";
    if (length == 0)
        return "a file without a name";
    if (length > MAX_NAME)
        return "a name of more than 1023 bytes";
    if (name[0] == '/' || (length > 1 && name[1] == ':'))
        return "an absolute name";
    if (memchr(name, '\\', (size_t)length))
        return "a backslash in a name";
    return NULL;
}

static bool has_room(gr_context *ctx, gr_archive *archive)
{
    if (archive->n < archive->room)
        return true;
    if (archive->n >= GR__ARCHIVE_MEMBERS)
        return gr__archive_refuse(ctx, archive, "it holds more than %d files", GR__ARCHIVE_MEMBERS);
    int64_t room = archive->room ? 2 * archive->room : 64;
    gr_member *grown = realloc(archive->members, (size_t)room * sizeof *grown);
    if (!grown)
        return gr__fail(ctx, GR_NO_MEMORY, "out of host memory for the %lld names in %s", (long long)room,
                        archive->path);
    archive->members = grown;
    archive->room = room;
    return true;
}

static bool check_size(gr_context *ctx, gr_archive *archive, const char *name, const gr_member *member)
{
    if (member->size > MAX_MEMBER)
        return gr__archive_refuse(ctx, archive, "%s has %lld bytes; at most %d are read", name, (long long)member->size,
                                  MAX_MEMBER);
    if (member->size > GR__ARCHIVE_SMALL && member->size / GR__ARCHIVE_RATIO > member->packed)
        return gr__archive_refuse(ctx, archive, "%s would unpack from %lld bytes to %lld, more than %d times as many",
                                  name, (long long)member->packed, (long long)member->size, GR__ARCHIVE_RATIO);
    archive->total += member->size;
    if (archive->total > GR__ARCHIVE_BYTES)
        return gr__archive_refuse(ctx, archive, "its files have more than %lld bytes", (long long)GR__ARCHIVE_BYTES);
    return true;
}

bool gr__archive_add(gr_context *ctx, gr_archive *archive, const char *name, int64_t length, gr_member member)
{
    const char *fault = name_fault(name, length);
    if (fault)
        return gr__archive_refuse(ctx, archive, "it holds %s (its file number %lld)", fault, (long long)archive->n + 1);
    char text[MAX_NAME + 1];
    memcpy(text, name, (size_t)length);
    text[length] = '\0';
    if (climbs(text))
        return gr__archive_refuse(ctx, archive, "%s would lead out of its folder", text);
    const char *bare = text;
    while (bare[0] == '.' && bare[1] == '/')
        bare += 2;
    if (!*bare || bare[strlen(bare) - 1] == '/') /* a folder */
        return true;
    if (!has_room(ctx, archive) || !check_size(ctx, archive, bare, &member))
        return false;
    member.name = strdup(bare);
    if (!member.name)
        return gr__fail(ctx, GR_NO_MEMORY, "out of host memory for the names in %s", archive->path);
    archive->members[archive->n++] = member;
    return true;
}

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

/* Unpacks raw deflate: in[packed] must become just out[size], no byte of either left over. NULL: it did. */
static const char *inflate_exactly(const uint8_t *in, int64_t packed, uint8_t *out, int64_t size, bool *no_memory)
{
    uint8_t beyond; /* where a stream of more than size bytes would write */
    z_stream z = {
        .next_in = (Bytef *)(uintptr_t)in, .avail_in = (uInt)packed, .next_out = out, .avail_out = (uInt)size};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) {
        *no_memory = true;
        return "out of memory";
    }
    int end = inflate(&z, Z_FINISH);
    if (end == Z_BUF_ERROR && z.avail_out == 0) { /* room is used up: only the end mark may be left */
        z.next_out = &beyond;
        z.avail_out = 1;
        end = inflate(&z, Z_FINISH);
    }
    bool exact = end == Z_STREAM_END && z.total_out == (uLong)size && z.avail_in == 0;
    bool more = z.total_out > (uLong)size;
    *no_memory = end == Z_MEM_ERROR;
    inflateEnd(&z);
    return exact  ? NULL
           : more ? "it unpacks to more bytes than the archive says"
                  : "its packed bytes in the archive are damaged";
}

const uint8_t *gr__archive_read(const gr_archive *archive, const gr_member *member, uint8_t **buffer,
                                const char **reason, bool *no_memory)
{
    const uint8_t *bytes = archive->bytes + member->at;
    *buffer = NULL;
    *no_memory = false;
    if (member->deflated) {
        *buffer = malloc((size_t)member->size + 1);
        *no_memory = !*buffer;
        *reason = *buffer ? inflate_exactly(bytes, member->packed, *buffer, member->size, no_memory) : "out of memory";
        bytes = *buffer;
        if (*reason) {
            free(*buffer);
            *buffer = NULL;
            return NULL;
        }
    }
    if (!member->has_crc || crc32(0, bytes, (uInt)member->size) == member->crc)
        return bytes;
    free(*buffer);
    *buffer = NULL;
    *reason = "its check sum in the archive is wrong";
    return NULL;
}
