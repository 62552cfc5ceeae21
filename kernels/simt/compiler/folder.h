/* folder.h - a folder for files that nobody keeps. */
#ifndef GRADUS_SIMT_FOLDER_H
#define GRADUS_SIMT_FOLDER_H

#include <stdbool.h>

/* Makes one in $TMPDIR or /tmp, its name in path[room]. False: errno tells. */
bool gr__folder_open(char *path, int room);

/* The end of it, with the files in it. */
void gr__folder_drop(const char *path);

#endif
