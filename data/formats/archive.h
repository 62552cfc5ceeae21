/*
 * archive.h - the files of a zip or tar archive, read where they lie: nothing is unpacked to disk, nothing is written.
 *
 * An archive is refused as a whole for anything that an honest one has no use for: names that are absolute, lead out of
 * it or occur twice, links, members that lie over each other, sizes beyond the caps below.
 */
#ifndef GRADUS_ARCHIVE_H
#define GRADUS_ARCHIVE_H

#include "core/context.h"

enum {
    GR__ARCHIVE_MEMBERS = 1 << 21, /* at most; ImageNet has 1.3 million images */
    GR__ARCHIVE_RATIO =
        100, /* unpacked bytes for each packed one, at most: photographs have about 1, deflate's limit is 1032 */
    GR__ARCHIVE_SMALL = 1 << 16 /* bytes up to which a ratio does no harm */
};
#define GR__ARCHIVE_BYTES ((int64_t)1 << 40) /* unpacked, all together, at most */

typedef struct {
    char *name;         /* relative, in slashes, without ./ in front */
    int64_t at, packed; /* where its bytes begin, and how many they are as they lie there */
    int64_t size;       /* bytes when unpacked */
    uint32_t crc;       /* of a zip's member */
    bool deflated, has_crc;
} gr_member;

typedef struct {
    const char *path;     /* for messages; not owned */
    const uint8_t *bytes; /* [size] where the members' offsets point: the mapped file, or held */
    int64_t size;
    uint8_t *held; /* the members' bytes of a compressed tar, which cannot be read in any order otherwise */
    void *map;     /* the mapped file; NULL: none */
    int64_t map_size, file_size;
    gr_member *members;     /* [n] in the archive's order; folders are left out */
    int64_t n, room, total; /* total: their unpacked bytes */
} gr_archive;

/* Opens a .zip, .tar or .tar.gz, told apart by their first bytes. False: recorded, with nothing to close. */
bool gr__archive_open(gr_context *ctx, const char *path, gr_archive *archive);
void gr__archive_close(gr_archive *archive);

/*
 * The bytes of a member, valid until gr__archive_close or until *buffer is freed. Unpacked into *buffer (malloc, to be
 * freed by the caller) or pointed at in place (*buffer NULL). NULL: reason says why; *no_memory when that was it.
 * Thread-safe.
 */
const uint8_t *gr__archive_read(const gr_archive *archive, const gr_member *member, uint8_t **buffer,
                                const char **reason, bool *no_memory);

/*
 * For the readers of each format. Refuses a name, a size or one member more than may be; a member for what it is; an
 * archive. False: recorded.
 */
bool gr__archive_add(gr_context *ctx, gr_archive *archive, const char *name, int64_t length, gr_member member);
bool gr__archive_refuse_member(gr_context *ctx, const gr_archive *archive, const char *name, int64_t length,
                               const char *what);
bool gr__archive_refuse(gr_context *ctx, const gr_archive *archive, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Zip: fills members from bytes[0..size]. Tar: from the file, filling held where it is compressed. False: recorded. */
bool gr__zip_index(gr_context *ctx, gr_archive *archive);
bool gr__tar_index(gr_context *ctx, gr_archive *archive);

#endif
