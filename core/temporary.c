/*
 * temporary.c - see temporary.h. Whoever writes such a file holds a lock (flock) on it, which the system takes back
 * with the process. So one that can be locked is nobody's. Where a file system has no locks, none can be, and all stay.
 */
#include "core/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"

enum { ATTEMPTS = 100 /* names that may be taken already */ };

static const char mark[] = ".tmp.";

/* --- what was left over ------------------------------------------------------------------------------------------- */

/* Whether name is that of a temporary for the file base: BASE.tmp.PROCESS-NUMBER. */
static bool is_temporary_of(const char *name, const char *base)
{
    const char *digits = "0123456789";
    const size_t n = strlen(base), m = sizeof mark - 1;
    if (strncmp(name, base, n) != 0 || strncmp(name + n, mark, m) != 0)
        return false;
    const char *process = name + n + m;
    const size_t length = strspn(process, digits);
    const char *number = process + length + 1;
    return length > 0 && process[length] == '-' && *number && number[strspn(number, digits)] == '\0';
}

/*
 * Whether a file that is locked is still what stands in the folder under that name: before the lock was ours its writer
 * may have renamed it and begun another.
 */
static bool is_still_there(int folder, const char *name, int fd)
{
    struct stat open_file, named;
    return fstat(fd, &open_file) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino && S_ISREG(named.st_mode);
}

/* For a lock: over a network only what is open for writing can be locked, and a mode of 0444 lets nobody write. */
static int open_to_lock(int folder, const char *name)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC; /* no pipe holds us up */
    const int fd = openat(folder, name, O_RDWR | flags);
    return fd < 0 && errno == EACCES ? openat(folder, name, O_RDONLY | flags) : fd;
}

static void remove_if_nobodys(int folder, const char *name)
{
    const int fd = open_to_lock(folder, name);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_still_there(folder, name, fd))
        unlinkat(folder, name, 0);
    close(fd);
}

/* Nothing is said of failure: what stays is untidy, no more. */
static void remove_left_over(const char *path)
{
    char folder[GR_TEMPORARY_NAME] = ".";
    const char *slash = strrchr(path, '/');
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path + 1), path);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (is_temporary_of(e->d_name, slash ? slash + 1 : path))
            remove_if_nobodys(dirfd(d), e->d_name);
    if (d)
        closedir(d);
}

/* --- one of our own ----------------------------------------------------------------------------------------------- */

/* Locks a new file. False: another process that looked for left-overs came between, and it is gone or going. */
static bool take_lock(int fd)
{
    struct stat s;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(fd, &s) != 0 || s.st_nlink > 0;
}

/* The descriptor of a new file, locked; -1: errno tells. */
static int open_new(gr_temporary *t, const char *path)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        if (snprintf(t->name, sizeof t->name, "%s%s%ld-%d", path, mark, (long)getpid(), i) >= (int)sizeof t->name) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int fd = open(t->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0 && take_lock(fd))
            return fd;
        if (fd >= 0)
            close(fd);
        else if (errno != EEXIST)
            return -1;
    }
    errno = EEXIST;
    return -1;
}

/* The mode of the file that will be replaced, unless there is none. */
static bool take_mode(int fd, const char *path)
{
    struct stat before;
    return stat(path, &before) == 0 ? fchmod(fd, before.st_mode & 0777) == 0 : gr__is_paths_fault(errno);
}

bool gr_temporary_open(gr_temporary *t, const char *path)
{
    remove_left_over(path);
    t->fd = open_new(t, path);
    if (t->fd < 0) {
        t->name[0] = '\0'; /* it is another's */
        return false;
    }
    t->lock = fcntl(t->fd, F_DUPFD_CLOEXEC, 0); /* the same lock: the file may be closed before it gets its name */
    if (t->lock >= 0 && take_mode(t->fd, path))
        return true;
    const int error = errno;
    close(t->fd);
    gr_temporary_drop(t);
    errno = error;
    return false;
}

/* Gives the lock back, and with it the claim to the name. */
static void release(gr_temporary *t)
{
    close(t->lock);
    t->lock = -1;
    t->name[0] = '\0';
}

void gr_temporary_drop(gr_temporary *t)
{
    const int error = errno;
    if (t->name[0]) {
        unlink(t->name);
        release(t);
    }
    errno = error;
}

bool gr_temporary_keep(gr_temporary *t, const char *path)
{
    if (rename(t->name, path) != 0) {
        gr_temporary_drop(t);
        return false;
    }
    release(t);
    return true;
}
