/*
 * files.h - the image files of a folder or an archive: which there are, their bytes, and pictures that are decoded from
 * them whenever they are wanted.
 */
#ifndef GRADUS_FILES_H
#define GRADUS_FILES_H

#include "data/dataset.h"
#include "data/formats/archive.h"
#include "data/formats/listing.h"

enum { GR__PATH_SIZE = 4096, GR__FILE_NAME_SIZE = 512 /* two names of at most 255 bytes and a slash */ };

typedef struct {
    char *root;
    gr_archive archive; /* path NULL: root is a folder */
    gr_listing listing;
} gr_files;

/* Lists root, a folder or an archive. False: recorded; gr__files_close is due all the same. */
bool gr__files_open(gr_context *ctx, const char *root, gr_files *files);
void gr__files_close(gr_files *files);

/*
 * The bytes of file number which of a class. *buffer is to be freed. Anything but GR__DECODED: reason says why. For any
 * thread.
 */
gr_decoded gr__files_read(const gr_files *files, int class, int64_t which, uint8_t **buffer, const uint8_t **bytes,
                          size_t *size, char reason[GR__REASON_SIZE]);

/* Decodes a picture from the bytes of a file into [size[0], size[1], 3]. */
gr_decoded gr__decode_resized(const uint8_t *bytes, size_t length, const int64_t size[2], uint8_t *pixels,
                              char reason[GR__REASON_SIZE]);

/*
 * A source of the pictures of images, whose labels and places say which file each is. Takes files over, which are empty
 * then. NULL: recorded.
 */
gr_image_source *gr__late_source(gr_context *ctx, const gr_images *images, gr_files *files);

#endif
