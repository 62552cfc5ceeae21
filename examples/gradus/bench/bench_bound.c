/* bench_bound.c - see bench_bound.h. */
#include "bench/bench_bound.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recipes/recipe.h"
#include "terminal/complain.h"
#include "terminal/system.h"

/* What can be told before a compiler is looked for. Returns 0 or GR_USAGE, complained of. */
static int check_lists(const bench_settings *s)
{
    int64_t batches[BENCH_MAX_BATCHES];
    int n;
    if (*s->bound == ',' || strstr(s->bound, ",,") || s->bound[strlen(s->bound) - 1] == ',')
        return complain(GR_USAGE, "bench", "--bound: \"%.100s\" has a GPU without a name; give a list such as a100,t4",
                        s->bound);
    if (s->recipe && !recipe_find(s->recipe, "bench"))
        return GR_USAGE;
    return bench_parse_batches(s, batches, &n);
}

int bench_check_bound(const bench_settings *s, const char *const *operands)
{
    const bool gemm = operands[0] && strcmp(operands[0], "gemm") == 0 && !operands[1];
    const char *other = s->compare        ? "--compare"
                        : s->against      ? "--against"
                        : s->counters     ? "--counters"
                        : s->csv          ? "--csv"
                        : s->list         ? "--list"
                        : s->shape        ? "--shape"
                        : s->about        ? "--case"
                        : s->part.given   ? "--pass"
                        : s->device.given ? "--device"
                        : s->cold         ? "--cold"
                                          : NULL;
    if (other)
        return complain(GR_USAGE, "bench", "--bound measures nothing on this machine: it does not go with %s", other);
    if (s->ladder && (!gemm || s->recipe || s->batches || s->precision.given))
        return complain(GR_USAGE, "bench",
                        "the ladder is of the product of matrices and has shapes of its own: gradus bench gemm "
                        "--ladder --bound %.60s",
                        s->bound);
    if (!s->ladder && operands[0])
        return complain(GR_USAGE, "bench",
                        "--bound is of a whole training step: --recipe says which, \"%.60s\" is left out; or of the "
                        "ladder: gradus bench gemm --ladder --bound %.60s",
                        operands[0], s->bound);
    return check_lists(s);
}

/* The path of this very program. False: the system does not tell it. */
static bool own_path(char *path, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

int bench_bound(const bench_settings *s)
{
    enum { PATH_SIZE = 2048, MOST_WORDS = 16 };
    char script[PATH_SIZE], self[PATH_SIZE];
    const char *chosen = getenv("PYTHON"), *python = chosen && *chosen ? chosen : "python3";
    if (!find_companion("scripts", "bench_bound.py", script, sizeof script) || !own_path(self, sizeof self))
        return complain(GR_IO_ERROR, "bench",
                        "--bound: scripts/bench_bound.py is not where this program's sources were: it compiles the "
                        "kernels, so ask a gradus in a build folder of the source tree");
    const char *words[MOST_WORDS] = {python, script, "--program", self, "--gpu", s->bound};
    int n = 6;
    const char *const more[][2] = {
        {s->recipe ? "--recipe" : NULL, s->recipe},
        {s->batches ? "--batch" : NULL, s->batches},
        {s->precision.given ? "--precision" : NULL, s->precision.given ? precisions[s->precision.value].name : NULL}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (more[i][0])
            words[n++] = more[i][0], words[n++] = more[i][1];
    if (s->ladder)
        words[n++] = "--ladder";
    if (s->calibrate)
        words[n++] = "--calibrate";
    if (s->json)
        words[n++] = "--json";
    fflush(NULL);
    execvp(python, (char *const *)words);
    return complain(GR_USAGE, "bench", "--bound: %s cannot be run: %s; install Python 3, or set PYTHON", python,
                    strerror(errno));
}
