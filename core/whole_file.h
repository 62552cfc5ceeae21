/*
 * whole_file.h - files that appear whole or not at all: written under a name of its own beside the target, synced,
 * renamed, the folder synced. Until then the file that was there stays as it is.
 */
#ifndef GRADUS_WHOLE_FILE_H
#define GRADUS_WHOLE_FILE_H

#include <stdio.h>

#include "core/core.h"
#include "core/temporary.h"

typedef struct {
    gr_context *ctx;
    const char *path; /* the caller's, who keeps it until the end */
    FILE *file;
    gr_temporary temporary;
} gr_whole_file;

/* A new file, with the mode of the one that it will replace. False: recorded, nothing is open. */
bool gr__whole_file_open(gr_context *ctx, gr_whole_file *w, const char *path);

/*
 * Ends the file, which must have been opened. Gives it its name where good says that all of it was written; else errno
 * tells why not. False: recorded, nothing is left behind.
 */
bool gr__whole_file_close(gr_whole_file *w, bool good);

#endif
