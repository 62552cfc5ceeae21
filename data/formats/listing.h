/*
 * listing.h - which image files a folder or an archive of class folders holds, in an order that no file system decides.
 */
#ifndef GRADUS_LISTING_H
#define GRADUS_LISTING_H

#include "core/context.h"
#include "data/formats/archive.h"

typedef struct {
    char *name; /* of the folder */
    int64_t n;
    char **files;     /* [n] names inside it, in numeric order */
    int64_t *members; /* [n] which member of the archive each is; NULL: a folder was listed */
} gr_class_files;

typedef struct {
    int n;
    gr_class_files *classes; /* [n], alphabetical; at least two, each with at least one file */
} gr_listing;

/* Lists root. False: recorded, with nothing left to free. */
bool gr__list_images(gr_context *ctx, const char *root, gr_listing *listing);
bool gr__list_archive(gr_context *ctx, const gr_archive *archive, gr_listing *listing);
void gr__listing_free(gr_listing *listing);

bool gr__is_image_name(const char *name); /* ends in .jpg, .jpeg or .png */

/* strcmp, but runs of digits compare as numbers: 2.jpg before 10.jpg. Different names never compare equal. */
int gr__compare_names(const char *a, const char *b);

#endif
