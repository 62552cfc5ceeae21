/* system.c - see system.h. */
#include "terminal/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "terminal/complain.h"
#include "terminal/stop.h"
#include "terminal/values.h"

double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

size_t read_beginning(const char *path, char *text, size_t size)
{
    const int f = open(path, O_RDONLY | O_CLOEXEC);
    size_t have = 0;
    for (ssize_t n = f >= 0; n > 0 && have < size - 1;)
        if ((n = read(f, text + have, size - 1 - have)) > 0)
            have += (size_t)n;
        else if (n < 0 && errno == EINTR)
            n = 1;
    if (f >= 0)
        close(f);
    text[have] = '\0';
    return have;
}

bool read_system(const char *path, const char *key, char *text, size_t size)
{
    char all[4096];
    if (!read_beginning(path, all, sizeof all))
        return false;
    for (const char *line = all; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *value = key ? strchr(line, ':') : line;
        if (!value || (key && strncmp(line, key, strlen(key)) != 0))
            continue;
        value += strspn(value, ": \t");
        snprintf(text, size, "%.*s", (int)strcspn(value, "\n"), value);
        return true;
    }
    return false;
}

const char *processor_name(char *text, size_t size)
{
    if (!read_system("/proc/cpuinfo", "model name", text, size))
        snprintf(text, size, "unknown");
    return text;
}

const char *now_text(char text[32])
{
    const time_t now = time(NULL);
    struct tm utc;
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return text;
}

_Noreturn void end_for_want_of(const char *path, const char *what)
{
    complain_at_last();
    const int code = complain_of_file(path, what, "");
    stop_clear_away();
    _exit(code);
}

/* For a call that has failed: returns where that is the path's own fault, so that there is nothing for this program. */
static void end_unless_missing(const char *path)
{
    static const int faults[] = {ENOENT, ENOTDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, EROFS};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (errno == faults[i])
            return;
    end_for_want_of(path, "cannot be looked at");
}

int gpu_asked(void)
{
    const char *text = getenv("GRADUS_GPU");
    int64_t number = 0;
    return text && *text && !parse_count(text, 0, 1 << 20, &number) ? -1 : (int)number;
}

static bool look_at(const char *path, struct stat *s)
{
    if (stat(path, s) == 0)
        return true;
    end_unless_missing(path);
    return false;
}

mode_t mode_of(const char *path)
{
    struct stat s;
    return look_at(path, &s) ? s.st_mode : 0;
}

bool is_same_file(const char *a, const char *b)
{
    struct stat here, there;
    return look_at(a, &here) && look_at(b, &there) && here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

size_t path_length(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return n;
}

bool is_folder(const char *path)
{
    return S_ISDIR(mode_of(path));
}

bool is_readable_file(const char *path)
{
    const mode_t mode = mode_of(path);
    if (mode == 0 || S_ISDIR(mode))
        return false;
    if (access(path, R_OK) == 0)
        return true;
    end_unless_missing(path);
    return false;
}

bool is_executable_file(const char *path)
{
    if (access(path, X_OK) == 0)
        return true;
    end_unless_missing(path);
    return false;
}

bool hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

bool find_companion(const char *folder, const char *name, char *path, size_t size)
{
    char here[1024]; /* folder of the running program: PREFIX/bin, or build/PRESET below the sources */
    ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    char *slash = length > 0 ? (here[length] = '\0', strrchr(here, '/')) : NULL;
    if (!slash)
        return false;
    *slash = '\0';
    snprintf(path, size, "%s/../share/gradus/%s", here, name);
    if (is_readable_file(path))
        return true;
    snprintf(path, size, "%s/../../%s/%s", here, folder, name);
    return is_readable_file(path); /* what lies in the working folder is not the program's */
}

/* Whether a command starts and has matplotlib. */
static bool can_draw(const char *python)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        /* Not what lies in the working folder under that name. */
        execlp(python, python, "-c", "import sys; sys.path = [p for p in sys.path if p]; import matplotlib",
               (char *)NULL);
        _exit(1);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

const char *drawing_python(void)
{
    const char *chosen = getenv("PYTHON");
    if (chosen && *chosen)
        return can_draw(chosen) ? chosen : NULL;
    /* The distribution's matplotlib belongs to its own Python, which another python3 may hide. */
    return can_draw("python3") ? "python3" : can_draw("/usr/bin/python3") ? "/usr/bin/python3" : NULL;
}
