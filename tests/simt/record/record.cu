/*
 * record.cu - what GRADUS_SIMT_LAUNCHES writes down: every launch with its grid, and its parameters where a kernel of a
 * GPU would find them. With GRADUS_SIMT_LAUNCHES_ALONE none runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/cuda/gpu.h"

typedef struct {
    char letter;
    short number;
} pair;

template <class T> static __global__ void fill(T *to, char small, double value, pair p, const T *same)
{
    to[threadIdx.x] = (T)(value + small + p.number + (same == to));
}

static __global__ void nothing()
{
}

static int fails(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    return 1;
}

/* The pointer at 0 and 32 apart: 7 at 8; 0.5, at a multiple of 8; {'x', 3} behind it. */
static bool has_parameters(const char *line)
{
    const char *at = strstr(line, "\"parameters\":\"");
    at = at ? at + strlen("\"parameters\":\"") : "";
    return strlen(at) > 80 &&
           !strncmp(at + 16,
                    "0700000000000000"
                    "000000000000e03f"
                    "7800030000000000",
                    48) &&
           !strncmp(at, at + 64, 16) && !strncmp(at + 80, "\",\"pointers\":[0,32]}", 20);
}

/* Line number `at` of what was written down. */
static int check_line(const char *line, int at)
{
    char shape[96];
    snprintf(shape, sizeof shape, "\"grid\":[%d,%d,1],\"block\":[%d,1,1],\"shared\":%d,", at + 1, at ? 1 : 2,
             at ? 32 : 4, at ? 0 : 128);
    const bool right = strstr(line, shape) && strstr(line, "record.cu\"") &&
                       (at ? strstr(line, "\"parameters\":\"\",\"pointers\":[]}") != NULL : has_parameters(line));
    return right ? 0 : fails(line, at ? "not as it was launched" : "not the parameters that were given");
}

enum { LAUNCHES = 5 };

static int launch_and_look(const char *path, const char *alone)
{
    setenv("GRADUS_SIMT_LAUNCHES", path, 1);
    setenv("GRADUS_SIMT_LAUNCHES_ALONE", alone, 1);
    float *buffer = (float *)gr__simt_alloc(64);
    GR_LAUNCH((fill<float>), dim3(1, 2), 4, 128, NULL, buffer, 7, 0.5, (pair{'x', 3}), buffer);
    for (unsigned i = 2; i <= LAUNCHES; i++)
        GR_LAUNCH(nothing, i, 32, 0, NULL);
    gr__simt_touchable(true);
    const float result = buffer[3];
    fflush(NULL); /* what is written down, too */
    FILE *file = fopen(path, "r");
    char line[4096];
    int wrong = 0, lines = 0;
    for (; file && fgets(line, sizeof line, file); lines++)
        wrong += check_line(line, lines);
    if (lines != LAUNCHES)
        wrong += fails(path, "has not a line for each launch");
    if (result != (*alone == '1' ? 0.0f : 11.5f))
        wrong += fails(alone, "a launch ran that was not to run, or did not run");
    return wrong + (gr__simt_fault() ? fails("fault", gr__simt_fault()) : 0);
}

/* The environment is read once, so each time in a process of its own. */
static int in_a_child(const char *path, const char *alone)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(launch_and_look(path, alone) ? 1 : 0);
    int status = 1;
    waitpid(child, &status, 0);
    return status ? 1 : 0;
}

int main(void)
{
    char path[] = "/tmp/gradus-record-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0)
        return fails(path, "cannot be made");
    close(file);
    const int wrong = in_a_child(path, "0") + in_a_child(path, "1");
    unlink(path);
    const bool refused = setenv("GRADUS_SIMT_LAUNCHES", "/nowhere/at/all", 1) == 0;
    GR_LAUNCH(nothing, 1, 32, 0, NULL);
    const char *fault = gr__simt_fault();
    return wrong || !refused || !fault || !strstr(fault, "/nowhere/at/all cannot be written");
}
