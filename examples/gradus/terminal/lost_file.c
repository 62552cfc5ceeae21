/* lost_file.c - see lost_file.h. All by calls that a signal's handler may make. */
#include "terminal/lost_file.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "gradus.h"
#include "terminal/stop.h"

enum { LONGEST_LINE = PATH_MAX + 128 };

/* A number in hexadecimal; *text moves behind it. */
static uintptr_t read_hex(const char **text)
{
    static const char digits[] = "0123456789abcdef";
    uintptr_t value = 0;
    for (const char *d; **text && (d = strchr(digits, **text)); ++*text)
        value = 16 * value + (uintptr_t)(d - digits);
    return value;
}

/* The path in a line of /proc/self/maps, "7f00-7f10 r--p 00000000 08:01 42   /a/file", if at lies in its range. */
static const char *path_in(const char *line, uintptr_t at)
{
    const uintptr_t begin = read_hex(&line);
    if (*line++ != '-' || at < begin || at >= read_hex(&line))
        return NULL;
    return strchr(line, '/');
}

/* The file that is mapped at an address, in line. NULL: none. */
static const char *mapped_at(uintptr_t at, char line[LONGEST_LINE])
{
    const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    const char *path = NULL;
    size_t length = 0;
    for (char c; maps >= 0 && !path && read(maps, &c, 1) == 1;) {
        if (c != '\n') {
            line[length] = c;
            length += length + 1 < LONGEST_LINE;
            continue;
        }
        line[length] = '\0';
        length = 0;
        path = path_in(line, at);
    }
    if (maps >= 0)
        close(maps);
    return path;
}

static void say(const char *text)
{
    const ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void on_bus(int number, siginfo_t *info, void *context)
{
    char line[LONGEST_LINE];
    const char *path = mapped_at((uintptr_t)info->si_addr, line);
    (void)context;
    if (!path) { /* a fault of another kind: it comes again, and ends the program as it would have */
        signal(number, SIG_DFL);
        return;
    }
    say("gradus: ");
    say(path);
    say(" became shorter while it was being read, or its disk failed\n");
    stop_clear_away();
    _exit(GR_IO_ERROR);
}

void lost_file_catch(void)
{
    sigaction(SIGBUS, &(struct sigaction){.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO}, NULL);
}
