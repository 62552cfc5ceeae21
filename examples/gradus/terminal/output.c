/* output.c - see output.h. */
#include "terminal/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "terminal/complain.h"
#include "terminal/system.h"

/* Something else than a file must not be renamed over: /dev/null would be gone. */
static bool is_special(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
}

static int failed(output *out, const char *command, int error)
{
    if (out->file)
        fclose(out->file);
    if (out->temporary[0])
        unlink(out->temporary);
    out->file = NULL;
    return complain(GR_IO_ERROR, command, "%s cannot be written: %s%s", out->path, strerror(error),
                    error == ENOENT ? "; make its folder first" : "");
}

int output_open(output *out, const char *path, const char *command)
{
    *out = (output){0};
    snprintf(out->path, sizeof out->path, "%s", path);
    if (strlen(path) >= sizeof out->path)
        return failed(out, command, ENAMETOOLONG);
    if (is_folder(path))
        return failed(out, command, EISDIR);
    if (is_special(path))
        return complain(GR_IO_ERROR, command, "%s cannot be written: it is not an ordinary file", path);
    snprintf(out->temporary, sizeof out->temporary, "%s.tmp.%ld", path, (long)getpid());
    out->file = fopen(out->temporary, "w");
    if (!out->file) {
        out->temporary[0] = '\0';
        return failed(out, command, errno);
    }
    return 0;
}

int output_commit(output *out, const char *command)
{
    if (fflush(out->file) != 0 || ferror(out->file) || fsync(fileno(out->file)) != 0)
        return failed(out, command, errno);
    int closed = fclose(out->file);
    out->file = NULL;
    if (closed != 0 || rename(out->temporary, out->path) != 0)
        return failed(out, command, errno);
    return 0;
}

void output_drop(output *out)
{
    if (!out->file)
        return;
    fclose(out->file);
    unlink(out->temporary);
    out->file = NULL;
}

int output_check(const char *path, const char *command)
{
    output out;
    int code = output_open(&out, path, command);
    if (code == 0)
        output_drop(&out);
    return code;
}

int folder_make(const char *path, const char *command)
{
    char part[3072];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return complain(GR_IO_ERROR, command, "the path %.64s... is too long", path);
    for (char *c = part + 1;; c++) {
        char end = *c;
        if (end != '/' && end != '\0')
            continue;
        *c = '\0';
        if (mkdir(part, 0777) != 0 && !is_folder(part))
            return complain(GR_IO_ERROR, command, "the folder %s cannot be made: %s", path, strerror(errno));
        *c = end;
        if (end == '\0')
            return 0;
    }
}
