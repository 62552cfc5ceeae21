/* whole_file.c - see whole_file.h. */
#include "core/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"

enum { ATTEMPTS = 100 /* names that may be taken already */ };

static bool failed(gr_whole_file *w, int error)
{
    return gr__fail(w->ctx, gr__io_code(error), "%s cannot be written: %s", w->path, strerror(error));
}

/*
 * A file that nobody else has, through no link: whoever may write in the folder could have planted one. -1: errno
 * tells.
 */
static int open_new(gr_whole_file *w)
{
    int fd = -1;
    for (int i = 0; fd < 0 && i < ATTEMPTS; i++) {
        if (snprintf(w->temporary, sizeof w->temporary, "%s.tmp.%ld-%d", w->path, (long)getpid(), i) >=
            (int)sizeof w->temporary) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

bool gr__whole_file_open(gr_context *ctx, gr_whole_file *w, const char *path)
{
    struct stat before;
    *w = (gr_whole_file){.ctx = ctx, .path = path};
    if (!gr_ok(ctx))
        return false;
    const int fd = open_new(w);
    if (fd < 0)
        return failed(w, errno);
    const bool there = stat(path, &before) == 0;
    const bool same_mode = there ? fchmod(fd, before.st_mode & 0777) == 0 : gr__is_paths_fault(errno);
    w->file = same_mode ? fdopen(fd, "wb") : NULL;
    if (w->file)
        return true;
    const int error = errno;
    close(fd);
    unlink(w->temporary);
    return failed(w, error);
}

/* A name is not safe before its folder is. Folders that cannot be synced are left to their file system. */
static bool sync_folder(const char *path)
{
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (!folder)
        return false;
    if (slash)
        slash[slash == folder] = '\0';
    const int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = fd < 0 || fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
    if (fd >= 0)
        close(fd);
    free(folder);
    return synced;
}

bool gr__whole_file_close(gr_whole_file *w, bool good)
{
    good = good && fflush(w->file) == 0 && fsync(fileno(w->file)) == 0;
    int error = errno;
    if (fclose(w->file) != 0 && good) {
        good = false;
        error = errno;
    }
    w->file = NULL;
    if (good && rename(w->temporary, w->path) != 0) {
        good = false;
        error = errno;
    }
    if (!good)
        unlink(w->temporary);
    else if (!sync_folder(w->path)) {
        good = false;
        error = errno;
    }
    return good || failed(w, error);
}
