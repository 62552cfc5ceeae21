/* tool.c - see tool.h. */
#include "terminal/tool.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int complain(gr_code code, const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "gradus%s%s: ", *command ? " " : "", command);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return code;
}

int complain_of(const gr_context *ctx, const char *command)
{
    return complain(gr_error_code(ctx), command, "%s", ctx ? gr_error_text(ctx) : "out of host memory");
}

/* Edits (insert, delete, replace) that make a of b: Levenshtein's distance, one row at a time. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    int row[LONGEST + 1], n = (int)strlen(b);
    if (n > LONGEST || strlen(a) > LONGEST)
        return LONGEST;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int least = row[j - 1] < row[j] ? row[j - 1] : row[j];
            row[j] = replaced < least + 1 ? replaced : least + 1;
        }
    }
    return row[n];
}

const char *nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    int length = (int)strlen(word), least = length / 3 > 2 ? length / 3 : 2; /* further away is another word */
    for (; *names; names++) {
        bool begins = length >= 3 && strncmp(*names, word, (size_t)length) == 0; /* "cats" means cats-vs-dogs */
        int d = begins ? 0 : distance(word, *names);
        if (d <= least && d < length) {
            best = *names;
            least = d - 1;
        }
    }
    return best;
}

const char *bytes_text(double bytes, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; unit++)
        bytes /= 1024;
    snprintf(text, 32, "%.*f %s", unit == 0 ? 0 : bytes < 10 ? 2 : bytes < 100 ? 1 : 0, bytes, units[unit]);
    return text;
}

const char *duration_text(double seconds, char text[32])
{
    int64_t whole = (int64_t)(seconds + 0.5);
    if (seconds < 9.95)
        snprintf(text, 32, "%.1f s", seconds);
    else if (whole < 60)
        snprintf(text, 32, "%d s", (int)whole);
    else if (whole < 3600)
        snprintf(text, 32, "%d min %d s", (int)(whole / 60), (int)(whole % 60));
    else
        snprintf(text, 32, "%lld h %d min", (long long)(whole / 3600), (int)(whole % 3600 / 60));
    return text;
}

const char *thousands_text(int64_t n, char text[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)n), out = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && digits[i - 1] != '-' && (length - i) % 3 == 0)
            text[out++] = ',';
        text[out++] = digits[i];
    }
    text[out] = '\0';
    return text;
}

void print_wrapped(FILE *f, const char *text, int column, int indent)
{
    enum { WIDTH = 80 };
    bool first = true; /* on its line */
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (!first && column + 1 + word > WIDTH) {
            fprintf(f, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        fprintf(f, "%s%.*s", first ? "" : " ", word, text);
        column += word + !first;
        first = false;
        text += word + (text[word] == ' ');
    }
    fputc('\n', f);
}

double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The number behind key (NULL: the first) in a file of the system; -1: there is none. */
static int64_t system_number(const char *path, const char *key)
{
    char line[256];
    long long number = -1;
    FILE *f = fopen(path, "r");
    while (f && number < 0 && fgets(line, sizeof line, f))
        if (!key || strncmp(line, key, strlen(key)) == 0)
            sscanf(line + (key ? strlen(key) : 0), "%lld", &number);
    if (f)
        fclose(f);
    return number;
}

int64_t memory_available(void)
{
    int64_t kibibytes = system_number("/proc/meminfo", "MemAvailable:");
    int64_t most = system_number("/sys/fs/cgroup/memory.max", NULL);
    int64_t taken = system_number("/sys/fs/cgroup/memory.current", NULL);
    int64_t machine = kibibytes >= 0 ? 1024 * kibibytes : INT64_MAX;
    int64_t container = most >= 0 && taken >= 0 ? most - taken : INT64_MAX;
    return machine < container ? machine : container;
}

bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

bool is_readable_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && !S_ISDIR(s.st_mode) && access(path, R_OK) == 0;
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
    if (is_readable_file(path))
        return true;
    snprintf(path, size, "%s/%s", folder, name); /* run from the top of the sources, built elsewhere */
    return is_readable_file(path);
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
        execlp(python, python, "-c", "import matplotlib", (char *)NULL);
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
