/* plot.c - see plot.h. */
#include "terminal/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal/system.h"

enum { PATH_SIZE = 2048 };

static bool run(const char *python, char *const *argv, bool quiet)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (quiet)
            dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout is for results */
        execvp(python, argv);
        _exit(1);
    }
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return child > 0 && status == 0;
}

/* Has a script of scripts/ draw a folder's picture, NAME.svg and NAME.png. */
static void draw(const char *script_name, const char *folder, const char *published, const char *name, bool quiet)
{
    char script[PATH_SIZE];
    const char *python = drawing_python(), *apart = *folder == '-' ? "-- " : ""; /* no option of the script */
    const bool found = find_companion("scripts", script_name, script, sizeof script);
    char *argv[7] = {(char *)python, script};
    int n = 2;
    if (published) {
        argv[n++] = (char *)"--published";
        argv[n++] = (char *)published;
    }
    argv[n++] = (char *)"--";
    argv[n++] = (char *)folder;
    const bool drawn = found && python && run(python, argv, quiet);
    if (quiet)
        return;
    if (!found)
        fprintf(stderr,
                "no picture: %s is not beside this program; from the sources: "
                "python3 scripts/%s %s%s\n",
                script_name, script_name, apart, folder);
    else if (!python)
        fprintf(stderr,
                "no picture: there is no Python with matplotlib (apt install python3-matplotlib, or set PYTHON); then: "
                "python3 %s %s%s\n",
                script, apart, folder);
    else if (drawn)
        fprintf(stderr, "picture: %s/%s.svg and %s.png\n", folder, name, name);
    else
        fprintf(stderr, "no picture: %s %s failed\n", python, script);
}

static void draw_sweep(const char *folder, bool quiet)
{
    char published[PATH_SIZE];
    const bool found = find_companion("examples", "published.csv", published, sizeof published);
    draw("plot_sweep.py", folder, found ? published : NULL, "accuracy", quiet);
}

void plot_sweep(const char *folder)
{
    draw_sweep(folder, false);
}

void plot_sweep_quietly(const char *folder)
{
    draw_sweep(folder, true);
}

void plot_landscape(const char *folder)
{
    draw("plot_landscape.py", folder, NULL, "landscape", false);
}
