/* whole_file.c - see whole_file.h. */
#include "core/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/context.h"

static bool failed(gr_whole_file *w, int error)
{
    return gr__fail(w->ctx, gr__io_code(error), "%s cannot be written: %s", w->path, strerror(error));
}

bool gr__whole_file_open(gr_context *ctx, gr_whole_file *w, const char *path)
{
    *w = (gr_whole_file){.ctx = ctx, .path = path};
    if (!gr_ok(ctx))
        return false;
    if (!gr_temporary_open(&w->temporary, path))
        return failed(w, errno);
    w->file = fdopen(w->temporary.fd, "wb");
    if (w->file)
        return true;
    const int error = errno;
    close(w->temporary.fd);
    gr_temporary_drop(&w->temporary);
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
    if (!good)
        gr_temporary_drop(&w->temporary);
    else if (!gr_temporary_keep(&w->temporary, w->path) || !sync_folder(w->path)) {
        good = false;
        error = errno;
    }
    return good || failed(w, error);
}
