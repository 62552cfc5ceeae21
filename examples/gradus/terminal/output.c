/* output.c - see output.h. */
#include "terminal/output.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "terminal/complain.h"
#include "terminal/stop.h"
#include "terminal/system.h"

/* Takes the temporary away. */
static void remove_temporary(output *out)
{
    gr_temporary_drop(&out->temporary);
    stop_will_keep(out->temporary.name);
}

static int failed(output *out, const char *command, int error)
{
    if (out->file)
        fclose(out->file);
    remove_temporary(out);
    out->file = NULL;
    return complain(error == ENOMEM ? GR_NO_MEMORY : GR_IO_ERROR, command, "%s cannot be written: %s%s", out->path,
                    strerror(error), error == ENOENT ? "; make its folder first" : "");
}

/* No signal comes between a temporary and the note that it has to go. False: errno says why. */
static bool open_temporary(output *out)
{
    sigset_t all, before;
    sigfillset(&all);
    stop_catch(); /* of every command that writes a file */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const bool opened = gr_temporary_open(&out->temporary, out->path);
    if (opened)
        stop_will_remove(out->temporary.name);
    pthread_sigmask(SIG_SETMASK, &before, NULL); /* leaves errno as it is */
    return opened;
}

int output_open(output *out, const char *path, const char *command)
{
    *out = (output){0};
    snprintf(out->path, sizeof out->path, "%s", path);
    if (strlen(path) >= sizeof out->path)
        return failed(out, command, ENAMETOOLONG);
    struct stat before = {.st_mode = 0};
    if (stat(path, &before) != 0 && errno != ENOENT)
        return failed(out, command, errno);
    if (S_ISDIR(before.st_mode))
        return failed(out, command, EISDIR);
    if (before.st_mode && !S_ISREG(before.st_mode)) /* nothing to rename over: /dev/null would be gone */
        return complain(GR_IO_ERROR, command, "%s cannot be written: it is not an ordinary file", path);
    if (!open_temporary(out))
        return failed(out, command, errno);
    out->file = fdopen(out->temporary.fd, "w");
    if (out->file)
        return 0;
    const int error = errno;
    close(out->temporary.fd);
    return failed(out, command, error);
}

int output_commit(output *out, const char *command)
{
    if (fflush(out->file) != 0 || ferror(out->file) || fsync(fileno(out->file)) != 0)
        return failed(out, command, errno);
    int closed = fclose(out->file);
    out->file = NULL;
    if (closed != 0 || !gr_temporary_keep(&out->temporary, out->path))
        return failed(out, command, errno);
    stop_will_keep(out->temporary.name);
    return 0;
}

void output_drop(output *out)
{
    if (!out->file)
        return;
    fclose(out->file);
    remove_temporary(out);
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

/* The last part of a path, and the folder that it is in. False: there is no such folder. */
static bool place_of(const char *path, const char **name, struct stat *folder)
{
    char above[3072];
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    snprintf(above, sizeof above, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
    return stat(above, folder) == 0;
}

static bool are_one(const char *a, const char *b)
{
    struct stat above_a, above_b;
    const char *name_a, *name_b;
    return place_of(a, &name_a, &above_a) && place_of(b, &name_b, &above_b) && strcmp(name_a, name_b) == 0 &&
           above_a.st_dev == above_b.st_dev && above_a.st_ino == above_b.st_ino;
}

int output_check_apart(const char *const *paths, int n, const char *command)
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (paths[i] && paths[j] && are_one(paths[i], paths[j]))
                return complain(GR_USAGE, command, "two outputs are to be %s; give each a name of its own", paths[j]);
    return 0;
}

int output_check_spares(const char *path, const char *const *inputs, int n, const char *command)
{
    for (int i = 0; path && i < n; i++)
        if (inputs[i] && is_same_file(path, inputs[i]))
            return complain(GR_USAGE, command, "%s is read and would be written over; give the output another name",
                            inputs[i]);
    return 0;
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
        const int error = mkdir(part, 0777) == 0 ? 0 : errno;
        const bool is_there = error == 0 || is_folder(part); /* also on a file system that is read only */
        if (!is_there && error == EEXIST)
            return complain(GR_IO_ERROR, command, "the folder %s cannot be made: %s is a file; choose another place",
                            path, part);
        if (!is_there)
            return complain(GR_IO_ERROR, command, "the folder %s cannot be made: %s", path, strerror(error));
        *c = end;
        if (end == '\0')
            return 0;
    }
}
