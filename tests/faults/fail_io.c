/*
 * fail_io.c - a shim for LD_PRELOAD: the input or output number $GRADUS_FAIL_IO, counted from 1 over all threads and
 * cells, fails in the way that $GRADUS_FAIL_HOW names, and with GRADUS_FAIL_IO_ON=1 every one behind it. Only calls
 * count that can fail so and have to do with the working folder, which is the test's, or with standard output. The
 * counts, one for each way, lie in the file $GRADUS_COUNT, which cells share; what failed is written to
 * $GRADUS_FAILED_IO, a line a call. With $GRADUS_FAIL_CALL only calls of that name count, with $GRADUS_FAIL_FILE only
 * those that have to do with that file.
 *
 * The C library's own streams do not call open, read and write where a shim could stand. So a stream of a counted file
 * is made anew (fopencookie), from functions that do.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    FILES = 256,
    PATH = 1024,
    READS = 1,
    WRITES = 2,
    CAN_BE_SHORT = 4,
    CAN_BE_INTERRUPTED = 8,
    KILLS = 16,
    WAYS = 7
};

static const struct {
    const char *name;
    int error;     /* 0: a short count, or a process that is no more */
    unsigned hits; /* kinds of calls */
} ways[WAYS] = {{"EIO", EIO, READS | WRITES},
                {"ENOSPC", ENOSPC, WRITES},
                {"ENOMEM", ENOMEM, READS | WRITES},
                {"EINTR", EINTR, CAN_BE_INTERRUPTED},
                {"short", 0, CAN_BE_SHORT},
                {"kill", 0, KILLS},
                {"EROFS", EROFS, WRITES}};

static atomic_long *count; /* of each way */
static long first;
static bool all_behind;
static int way = -1;
static const char *only, *only_of;
static char here[PATH];
static char names[FILES][PATH]; /* of open files that count; "": it does not */
static FILE *streams[FILES];
static DIR *folders[FILES];

/* --- which calls, and what becomes of them ------------------------------------------------------------------------ */

static const char *counted(const char *path)
{
    const size_t n = strlen(here);
    if (!count || !path)
        return NULL;
    if (path[0] != '/')
        return path;
    return strncmp(path, here, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

static const char *name_of(int fd)
{
    return count && fd >= 0 && fd < FILES && names[fd][0] ? names[fd] : NULL;
}

static void tell(const char *call, const char *name)
{
    const char *path = getenv("GRADUS_FAILED_IO");
    char line[PATH + 64];
    const int n = snprintf(line, sizeof line, "%s %s\n", call, name);
    const long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (fd < 0 || syscall(SYS_write, fd, line, n) != n)
        _exit(9);
    syscall(SYS_close, fd);
}

/* Counts a call and says whether it fails; errno is 0 for a count that is to be short. */
static bool fails(const char *call, const char *name, unsigned kinds)
{
    if (!name || (only && strcmp(call, only) != 0) || (only_of && strcmp(name, only_of) != 0))
        return false;
    long number = 0;
    for (int i = 0; i < WAYS; i++)
        if (ways[i].hits & (kinds | KILLS)) {
            const long n = atomic_fetch_add(&count[i], 1) + 1;
            number = i == way ? n : number;
        }
    if (first <= 0 || number < first || (number > first && !all_behind))
        return false;
    if (ways[way].hits & KILLS)
        kill(getpid(), SIGKILL);
    tell(call, name);
    errno = ways[way].error;
    return true;
}

__attribute__((constructor)) static void begin(void)
{
    const char *file = getenv("GRADUS_COUNT"), *number = getenv("GRADUS_FAIL_IO");
    const char *on = getenv("GRADUS_FAIL_IO_ON"), *how = getenv("GRADUS_FAIL_HOW");
    if (!file || strcmp(program_invocation_short_name, "gradus") != 0 || !getcwd(here, sizeof here))
        return;
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || syscall(SYS_ftruncate, fd, WAYS * sizeof *count) != 0)
        _exit(9);
    count = (void *)syscall(SYS_mmap, NULL, WAYS * sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    first = number ? atol(number) : 0;
    all_behind = on && *on == '1';
    only = getenv("GRADUS_FAIL_CALL");
    only_of = getenv("GRADUS_FAIL_FILE");
    for (int i = 0; how && i < WAYS; i++)
        if (strcmp(how, ways[i].name) == 0)
            way = i;
    if (count == MAP_FAILED || (first > 0 && way < 0))
        _exit(9);
    syscall(SYS_close, fd);
    strcpy(names[STDOUT_FILENO], "standard output");
    stdout = fdopen(STDOUT_FILENO, "w");
}

/* --- calls of the system ------------------------------------------------------------------------------------------ */

/* A path that is seen from a folder counts where the folder does. */
static const char *counted_at(int folder, const char *path)
{
    return folder == AT_FDCWD || path[0] == '/' ? counted(path) : name_of(folder) ? path : NULL;
}

static int open_counted(int folder, const char *path, int flags, mode_t mode)
{
    const char *name = counted_at(folder, path);
    const bool writes = flags & (O_CREAT | O_TRUNC);
    if (fails("open", name, CAN_BE_INTERRUPTED | (writes ? WRITES : READS)) && errno)
        return -1;
    const int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
    if (name && fd >= 0 && fd < FILES)
        snprintf(names[fd], PATH, "%s", name);
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_counted(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_counted(folder, path, flags, mode);
}

int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
    return open_counted(AT_FDCWD, path, flags, 0);
}

/* Half of what was asked for, where that is what is to happen to it. */
static ssize_t read_counted(const char *call, int fd, void *to, size_t size, off_t at)
{
    if (fails(call, name_of(fd), READS | CAN_BE_INTERRUPTED | (size > 1 ? CAN_BE_SHORT : 0))) {
        if (errno)
            return -1;
        size /= 2;
    }
    return at < 0 ? syscall(SYS_read, fd, to, size) : syscall(SYS_pread64, fd, to, size, at);
}

ssize_t read(int fd, void *to, size_t size)
{
    return read_counted("read", fd, to, size, -1);
}

ssize_t __read_chk(int fd, void *to, size_t size, size_t room);
ssize_t __read_chk(int fd, void *to, size_t size, size_t room)
{
    (void)room;
    return read(fd, to, size);
}

ssize_t pread(int fd, void *to, size_t size, off_t at)
{
    return read_counted("pread", fd, to, size, at);
}

ssize_t __pread_chk(int fd, void *to, size_t size, off_t at, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t size, off_t at, size_t room)
{
    (void)room;
    return pread(fd, to, size, at);
}

ssize_t write(int fd, const void *from, size_t size)
{
    if (fails("write", name_of(fd), WRITES | CAN_BE_INTERRUPTED | (size > 1 ? CAN_BE_SHORT : 0))) {
        if (errno)
            return -1;
        size /= 2;
    }
    return syscall(SYS_write, fd, from, size);
}

/* A file that fails to close is closed. */
int close(int fd)
{
    const bool failing = fails("close", name_of(fd), READS | WRITES);
    const int error = errno;
    if (fd >= 0 && fd < FILES)
        names[fd][0] = '\0';
    if (syscall(SYS_close, fd) != 0)
        return -1;
    errno = failing ? error : errno;
    return failing && error ? -1 : 0;
}

int fsync(int fd)
{
    return fails("fsync", name_of(fd), WRITES) ? -1 : (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t size)
{
    return fails("ftruncate", name_of(fd), WRITES | CAN_BE_INTERRUPTED) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int rename(const char *from, const char *to)
{
    return fails("rename", counted(to), WRITES) ? -1 : (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int unlinkat(int folder, const char *path, int flags)
{
    return fails("unlink", counted_at(folder, path), WRITES) ? -1 : (int)syscall(SYS_unlinkat, folder, path, flags);
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int fchmod(int fd, mode_t mode)
{
    return fails("fchmod", name_of(fd), WRITES) ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int flock(int fd, int operation)
{
    return fails("flock", name_of(fd), WRITES) ? -1 : (int)syscall(SYS_flock, fd, operation);
}

int rmdir(const char *path)
{
    return fails("rmdir", counted(path), WRITES) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

int mkdir(const char *path, mode_t mode)
{
    return fails("mkdir", counted(path), WRITES) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t from)
{
    return fails("mmap", name_of(fd), READS) ? MAP_FAILED
                                             : (void *)syscall(SYS_mmap, at, size, protection, flags, fd, from);
}

/* --- looks at what is there --------------------------------------------------------------------------------------- */

int stat(const char *path, struct stat *s)
{
    return fails("stat", counted(path), READS) ? -1 : (int)syscall(SYS_newfstatat, AT_FDCWD, path, s, 0);
}

int fstatat(int folder, const char *path, struct stat *s, int flags)
{
    return fails("lstat", counted_at(folder, path), READS) ? -1 : (int)syscall(SYS_newfstatat, folder, path, s, flags);
}

int lstat(const char *path, struct stat *s)
{
    return fstatat(AT_FDCWD, path, s, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *s)
{
    return fails("fstat", name_of(fd), READS) ? -1 : (int)syscall(SYS_fstat, fd, s);
}

int access(const char *path, int mode)
{
    return fails("access", counted(path), READS) ? -1 : (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

/* --- folders ------------------------------------------------------------------------------------------------------ */

/* The next definition of a function, past this file's. */
static void *original(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    return f ? f : (_exit(9), NULL);
}

DIR *opendir(const char *path)
{
    DIR *(*real)(const char *) = (DIR * (*)(const char *)) original("opendir");
    const char *name = counted(path);
    DIR *d = fails("opendir", name, READS | CAN_BE_INTERRUPTED) ? NULL : real(path);
    const int fd = d ? dirfd(d) : -1;
    if (name && fd >= 0 && fd < FILES) {
        snprintf(names[fd], PATH, "%s", name);
        folders[fd] = d;
    }
    return d;
}

struct dirent *readdir(DIR *d)
{
    struct dirent *(*real)(DIR *) = (struct dirent * (*)(DIR *)) original("readdir");
    return fails("readdir", name_of(dirfd(d)), READS) ? NULL : real(d);
}

typedef int folder_filter(const struct dirent *), folder_order(const struct dirent **, const struct dirent **);

int scandir(const char *path, struct dirent ***list, folder_filter *filter, folder_order *order)
{
    int (*real)(const char *, struct dirent ***, folder_filter *, folder_order *) =
        (int (*)(const char *, struct dirent ***, folder_filter *, folder_order *))original("scandir");
    return fails("scandir", counted(path), READS) ? -1 : real(path, list, filter, order);
}

int closedir(DIR *d)
{
    int (*real)(DIR *) = (int (*)(DIR *))original("closedir");
    const int fd = dirfd(d);
    if (fd >= 0 && fd < FILES)
        names[fd][0] = '\0';
    return real(d);
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

static ssize_t stream_read(void *cookie, char *to, size_t size)
{
    return read((int)(intptr_t)cookie, to, size);
}

/* As the C library: it goes on after a short count and gives up at any error. */
static ssize_t stream_write(void *cookie, const char *from, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t n = write((int)(intptr_t)cookie, from + done, size - done);
        if (n < 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static int stream_seek(void *cookie, off64_t *at, int whence)
{
    *at = lseek((int)(intptr_t)cookie, *at, whence);
    return *at < 0 ? -1 : 0;
}

static int stream_close(void *cookie)
{
    streams[(intptr_t)cookie] = NULL;
    return close((int)(intptr_t)cookie);
}

FILE *fdopen(int fd, const char *mode)
{
    if (!name_of(fd))
        return ((FILE * (*)(int, const char *)) original("fdopen"))(fd, mode);
    streams[fd] = fopencookie((void *)(intptr_t)fd, mode,
                              (cookie_io_functions_t){stream_read, stream_write, stream_seek, stream_close});
    return streams[fd];
}

FILE *fopen(const char *path, const char *mode)
{
    if (!counted(path))
        return ((FILE * (*)(const char *, const char *)) original("fopen"))(path, mode);
    const int both = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
    const int make = mode[0] == 'r' ? 0 : mode[0] == 'a' ? O_CREAT | O_APPEND : O_CREAT | O_TRUNC;
    const int fd = open(path, both | make | (strchr(mode, 'x') ? O_EXCL : 0) | O_CLOEXEC, 0666);
    return fd < 0 ? NULL : fdopen(fd, mode);
}

int fileno(FILE *f)
{
    for (int fd = 0; fd < FILES; fd++)
        if (streams[fd] == f)
            return fd;
    return f->_fileno;
}
