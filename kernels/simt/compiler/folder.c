/* folder.c - see folder.h. */
#include "kernels/simt/compiler/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

bool gr__folder_open(char *path, int room)
{
    const char *where = getenv("TMPDIR");
    snprintf(path, (size_t)room, "%s/gradus-cuda-XXXXXX", where && *where ? where : "/tmp");
    return mkdtemp(path);
}

void gr__folder_drop(const char *path)
{
    char file[PATH_ROOM];
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlink(file);
    }
    if (folder)
        closedir(folder);
    rmdir(path);
}
