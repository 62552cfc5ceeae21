/* input_file.c - see input_file.h. */
#include "core/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"

bool gr__input_open(gr_context *ctx, const char *path, gr_input_file *in)
{
    struct stat s;
    *in = (gr_input_file){.ctx = ctx, .path = path};
    in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has no writer yet, perhaps for ever */
    if (in->fd < 0)
        return gr__fail(ctx, errno == ENOENT ? GR_BAD_DATA : gr__io_code(errno), "%s: cannot be opened: %s", path,
                        strerror(errno));
    const bool known = fstat(in->fd, &s) == 0;
    if (known && S_ISREG(s.st_mode)) {
        in->size = (size_t)s.st_size;
        return true;
    }
    const char *why = known ? "it is not an ordinary file but a folder, a pipe or a device" : strerror(errno);
    gr__fail(ctx, known ? GR_IO_ERROR : gr__io_code(errno), "%s: %s", path, why);
    close(in->fd);
    return false;
}

bool gr__input_read(gr_input_file *in, void *to, size_t n)
{
    for (size_t done = 0; done < n;) {
        const ssize_t got = read(in->fd, (char *)to + done, n - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return gr__fail(in->ctx, got < 0 ? gr__io_code(errno) : GR_IO_ERROR, "%s: cannot be read: %s", in->path,
                            got < 0 ? strerror(errno) : "it became shorter");
        done += (size_t)got;
    }
    return true;
}

bool gr__input_peek(gr_input_file *in, void *to, size_t n)
{
    return (gr__input_read(in, to, n < in->size ? n : in->size) && lseek(in->fd, 0, SEEK_SET) == 0) ||
           gr__fail(in->ctx, GR_IO_ERROR, "%s: cannot be read: %s", in->path, strerror(errno));
}

void gr__input_close(gr_input_file *in)
{
    close(in->fd);
}
