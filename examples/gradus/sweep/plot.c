/* plot.c - see plot.h. */
#include "sweep/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal/system.h"

enum { PATH_SIZE = 2048 };

static bool draw(const char *python, const char *script, const char *published, const char *folder, bool quiet)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (quiet)
            dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout is for results */
        execlp(python, python, script, folder, "--published", published, (char *)NULL);
        _exit(1);
    }
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return child > 0 && status == 0;
}

void plot_sweep(const char *folder)
{
    char script[PATH_SIZE], published[PATH_SIZE];
    const char *python = drawing_python();
    if (!find_companion("scripts", "plot_sweep.py", script, sizeof script) ||
        !find_companion("examples", "published.csv", published, sizeof published))
        fprintf(stderr,
                "no picture: plot_sweep.py is not beside this program; from the sources: "
                "python3 scripts/plot_sweep.py %s\n",
                folder);
    else if (!python)
        fprintf(stderr,
                "no picture: there is no Python with matplotlib (apt install python3-matplotlib, or set PYTHON); then: "
                "python3 %s %s\n",
                script, folder);
    else if (draw(python, script, published, folder, false))
        fprintf(stderr, "picture: %s/accuracy.svg and accuracy.png\n", folder);
    else
        fprintf(stderr, "no picture: %s %s failed\n", python, script);
}

void plot_sweep_quietly(const char *folder)
{
    char script[PATH_SIZE], published[PATH_SIZE];
    const char *python = drawing_python();
    if (python && find_companion("scripts", "plot_sweep.py", script, sizeof script) &&
        find_companion("examples", "published.csv", published, sizeof published))
        draw(python, script, published, folder, true);
}
