/* files.c - see files.h. */
#include "data/formats/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool gr__files_open(gr_context *ctx, const char *root, gr_files *files)
{
    struct stat status;
    *files = (gr_files){.root = gr__calloc(ctx, 1, strlen(root) + 1)};
    if (!files->root)
        return false;
    strcpy(files->root, root);
    const bool there = stat(root, &status) == 0;
    if (!there && !gr__is_paths_fault(errno))
        return gr__fail(ctx, gr__io_code(errno), "%s cannot be looked at: %s", root, strerror(errno));
    if (!there || !S_ISREG(status.st_mode))
        return gr__list_images(ctx, root, &files->listing);
    return gr__archive_open(ctx, files->root, &files->archive) &&
           gr__list_archive(ctx, &files->archive, &files->listing);
}

void gr__files_close(gr_files *files)
{
    gr__listing_free(&files->listing);
    gr__archive_close(&files->archive);
    free(files->root);
    *files = (gr_files){0};
}

/* The bytes of a file in the archive. */
static gr_decoded read_member(const gr_files *files, int64_t index, uint8_t **buffer, const uint8_t **bytes,
                              size_t *size, char reason[GR__REASON_SIZE])
{
    const gr_member *member = &files->archive.members[index];
    const char *why;
    bool no_memory;
    *size = (size_t)member->size;
    if (member->size > GR__MAX_FILE) {
        snprintf(reason, GR__REASON_SIZE, "larger than 64 MiB");
        return GR__UNDECODABLE;
    }
    *bytes = gr__archive_read(&files->archive, member, buffer, &why, &no_memory);
    if (*bytes)
        return GR__DECODED;
    snprintf(reason, GR__REASON_SIZE, "%s", why);
    return no_memory ? GR__OUT_OF_MEMORY : GR__UNDECODABLE;
}

gr_decoded gr__files_read(const gr_files *files, int class, int64_t which, uint8_t **buffer, const uint8_t **bytes,
                          size_t *size, char reason[GR__REASON_SIZE])
{
    const gr_class_files *of_class = &files->listing.classes[class];
    char path[GR__PATH_SIZE];
    *buffer = NULL;
    if (files->archive.path)
        return read_member(files, of_class->members[which], buffer, bytes, size, reason);
    gr_decoded result = GR__UNDECODABLE;
    int length = snprintf(path, sizeof path, "%s/%s/%s", files->root, of_class->name, of_class->files[which]);
    if (length >= (int)sizeof path)
        snprintf(reason, GR__REASON_SIZE, "its path is too long");
    else
        result = gr__read_file(path, buffer, size, reason);
    *bytes = *buffer;
    return result;
}

gr_decoded gr__decode_resized(const uint8_t *bytes, size_t length, const int64_t size[2], uint8_t *pixels,
                              char reason[GR__REASON_SIZE])
{
    gr_picture picture;
    gr_decoded result = gr__decode_bytes(bytes, length, &picture, reason);
    if (result != GR__DECODED)
        return result;
    gr__resize_nearest(picture.rgb, (int64_t[]){picture.height, picture.width}, 3, size, pixels);
    gr__picture_free(&picture);
    return result;
}
