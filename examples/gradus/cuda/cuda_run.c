/* cuda_run.c - see cuda_run.h. */
#include "cuda/cuda_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 256, NO_PROGRAM = 127, NO_TOOL = 5 };

bool program_folder_make(char *path, size_t room)
{
    const char *where = getenv("TMPDIR");
    snprintf(path, room, "%s/gradus-cuda-XXXXXX", where && *where ? where : "/tmp");
    return mkdtemp(path);
}

void program_folder_drop(const char *path)
{
    char file[2048];
    snprintf(file, sizeof file, "%s/" PROGRAM_NAME, path);
    unlink(file);
    snprintf(file, sizeof file, "%s/" SCRIPT_NAME, path);
    unlink(file);
    rmdir(path);
}

/* A command of up to WORDS - 1 words. */
typedef struct {
    const char *word[WORDS];
    int count;
} words;

static void add(words *w, const char *word)
{
    if (w->count < WORDS - 1)
        w->word[w->count++] = word;
}

static void add_all(words *w, const char *const *more)
{
    for (int i = 0; more[i]; i++)
        add(w, more[i]);
}

/* Runs and waits. Whoever presses Ctrl-C means the program: it decides. Returns its exit code. */
static int run(const words *w)
{
    void (*const interrupt)(int) = signal(SIGINT, SIG_IGN);
    fflush(NULL);
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        execvp(w->word[0], (char **)(uintptr_t)w->word);
        _exit(NO_PROGRAM);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0)
        ;
    signal(SIGINT, interrupt);
    if (child < 0)
        return NO_PROGRAM;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* gradus-simt beside this program. False: it is not there. */
static bool find_compiler(char *path, size_t room)
{
    const ssize_t n = readlink("/proc/self/exe", path, room - 32);
    char *slash = n > 0 ? (path[n] = '\0', strrchr(path, '/')) : NULL;
    if (slash)
        strcpy(slash, "/gradus-simt");
    return slash && access(path, X_OK) == 0;
}

int cuda_compile(const char *const *files, const char *program, const char *const *options)
{
    char compiler[2048];
    words w = {0};
    for (int i = 1; files[i]; i++) /* the first is a program's for certain, and gradus-simt says what it is */
        if (access(files[i], F_OK) != 0)
            return complain(GR_USAGE, "cuda", "%s: %s; what is for the program itself goes behind --: %s -- %s",
                            files[i], strerror(errno), files[0], files[i]);
    if (!find_compiler(compiler, sizeof compiler))
        return complain(GR_IO_ERROR, "cuda",
                        "gradus-simt, which compiles CUDA C, is not beside this program: install "
                        "Gradus anew, or build the target gradus_simt_tool");
    add(&w, compiler);
    add_all(&w, options);
    add(&w, "-o");
    add(&w, program);
    add_all(&w, files);
    const int code = run(&w);
    return code == 0 ? 0 : code == NO_TOOL || code == NO_PROGRAM ? GR_IO_ERROR : GR_BAD_DATA;
}

int cuda_run(const char *program, char **arguments)
{
    words w = {0};
    add(&w, program);
    add_all(&w, (const char *const *)arguments);
    const int code = run(&w);
    if (code == NO_PROGRAM)
        return complain(GR_IO_ERROR, "cuda", "%s could not be started", program);
    if (code > 128)
        fprintf(stderr, "gradus cuda: signal %d (%s) ended the program\n", code - 128, strsignal(code - 128));
    return code;
}

int cuda_run_in_gdb(const char *program, char **arguments, const char *script)
{
    words w = {0};
    add_all(&w, (const char *const[]){"gdb", "-q", NULL});
    if (script)
        add_all(&w, (const char *const[]){"-x", script, NULL});
    add_all(&w, (const char *const[]){"--args", program, NULL});
    add_all(&w, (const char *const *)arguments);
    const int code = run(&w);
    if (code == NO_PROGRAM)
        return complain(GR_IO_ERROR, "cuda", "there is no gdb: install it (Debian, Ubuntu: apt-get install gdb)");
    return code;
}
