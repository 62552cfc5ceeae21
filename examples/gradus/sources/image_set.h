/* image_set.h - reading a folder, an archive or a packed set of class folders. */
#ifndef GRADUS_IMAGE_SET_H
#define GRADUS_IMAGE_SET_H

#include "sources/source.h"

/*
 * The pictures at path, and into sums the checksums of their files where the run will write weights; tells on stderr
 * which files were taken. NULL: the context tells, or *code is an exit code, complained of.
 */
gr_dataset *image_set_read(gr_context *ctx, const resolved *s, const char *path, const char *command,
                           const source *data, file_sums *sums, int *code);

#endif
