/*
 * cuda_command.c - gradus cuda: a CUDA program without a GPU. It is compiled for the emulator (kernels/simt/compiler),
 * run in its own process, and its exit code is ours: 7 when something was found wrong in it.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "cuda/cuda_run.h"
#include "terminal/output.h"

typedef struct {
    choice order;
    const char *out, *include, *break_at, *thread, *block;
    int64_t seed;
    bool check, counters, gdb;
} cuda_settings;

enum { OPERANDS = 8, RANDOM = 2 };
static const char *const orders[] = {"forward", "reverse", [RANDOM] = "random", NULL};

static const option look_options[] = {
    FLAG_OPTION(
        "check", offsetof(cuda_settings, check),
        "look at every access of every kernel: races, out of bounds, reads of what nobody wrote, memory never freed"),
    FLAG_OPTION("counters", offsetof(cuda_settings, counters),
                "count what each kernel and each line asks of the memories (stderr, at the end)"),
    CHOICE_OPTION("order", "ORDER", offsetof(cuda_settings, order), orders,
                  "in which order threads take turns: forward, reverse or random (default: forward)"),
    COUNT_OPTION("seed", "N", offsetof(cuda_settings, seed), 1, INT64_MAX, "of the random order (default: 1)"),
    {0},
};

static const option program_options[] = {
    TEXT_OPTION("out", "PROGRAM", offsetof(cuda_settings, out), "keep the program there"),
    TEXT_OPTION("include", "FOLDER", offsetof(cuda_settings, include), "look for headers there, too"),
    FLAG_OPTION("gdb", offsetof(cuda_settings, gdb), "run it in gdb, compiled for a debugger"),
    TEXT_OPTION("break", "LINE", offsetof(cuda_settings, break_at), "stop there (with --gdb): 14 or other.cu:14"),
    TEXT_OPTION("block", "X[,Y,Z]", offsetof(cuda_settings, block), "only in this block (default: the first to come)"),
    TEXT_OPTION("thread", "X[,Y,Z]", offsetof(cuda_settings, thread),
                "only in this thread (default: the first to come)"),
    {0},
};

/* "1,2" for threadIdx as a condition of gdb's: "threadIdx.x == 1 && threadIdx.y == 2". False: it is none. */
static bool add_condition(char *text, size_t room, const char *variable, const char *numbers)
{
    const char *rest = numbers;
    for (int i = 0; i < 3 && rest; i++) {
        char *end;
        const long n = strtol(rest, &end, 10);
        const size_t used = strlen(text);
        if (end == rest || n < 0 || (*end && *end != ','))
            return false;
        snprintf(text + used, room - used, "%s%s.%c == %ld", used ? " && " : "", variable, "xyz"[i], n);
        rest = *end ? end + 1 : NULL;
    }
    return !rest;
}

/* Where gdb stops: FILE:LINE, with the block and the thread as a condition. Returns 0 or GR_USAGE. */
static int breakpoint(const cuda_settings *s, const char *file, char *text, size_t room)
{
    char condition[512] = "";
    const char *base = strrchr(file, '/');
    if ((s->block && !add_condition(condition, sizeof condition, "blockIdx", s->block)) ||
        (s->thread && !add_condition(condition, sizeof condition, "threadIdx", s->thread)))
        return complain(GR_USAGE, "cuda", "--block and --thread take one to three numbers: 1 or 1,0,2");
    if (!s->break_at && *condition)
        return complain(GR_USAGE, "cuda", "--block and --thread say where --break LINE stops: give a line, too");
    if (s->break_at && !s->gdb)
        return complain(GR_USAGE, "cuda", "--break says where gdb stops: give --gdb, too");
    if (s->break_at)
        snprintf(text, room, "%s%s%s%s%s",
                 strchr(s->break_at, ':') ? ""
                 : base                   ? base + 1
                                          : file,
                 strchr(s->break_at, ':') ? "" : ":", s->break_at, *condition ? " if " : "", condition);
    return 0;
}

/*
 * What gdb is told first, as a file: there the first command that fails is the last, so that the program does not run
 * past a line that is not there. Returns 0 or an exit code, complained of.
 */
static int write_script(const char *path, const char *stop)
{
    FILE *f = fopen(path, "w");
    const bool written = f && fprintf(f,
                                      "set breakpoint pending off\nbreak %s\nrun\n"
                                      "if !$_isvoid($_exitcode)\n"
                                      "echo gradus cuda: the program has ended, and nowhere did it stop: no launch has "
                                      "that block and thread, or none of them comes to that line\\n\nend\n",
                                      stop) > 0;
    return (f && fclose(f)) || !written ? complain_of_file(path, "cannot be written", "cuda") : 0;
}

/* False: there is no memory for it, and the program would run in another way. */
static bool set_environment(const cuda_settings *s)
{
    char seed[32];
    snprintf(seed, sizeof seed, "%lld", (long long)s->seed);
    return (!s->order.given || setenv("GRADUS_SIMT_ORDER", orders[s->order.value], 1) == 0) &&
           (!s->seed || setenv("GRADUS_SIMT_SEED", seed, 1) == 0) &&
           (!s->counters || setenv("GRADUS_SIMT_COUNTERS", "1", 1) == 0);
}

/* Whether the program may be kept there. */
static int check_out(const char *out, const char *const *files)
{
    const int code = output_check_spares(out, files, OPERANDS, "cuda");
    return code ? code : output_check(out, "cuda");
}

/* Compiles into folder or to --out, and runs. */
static int compile_and_run(const cuda_settings *s, const char *const *files, const char *folder, char **arguments)
{
    char program[PATH_MAX], script[PATH_MAX], stop[1024] = "";
    const char *options[5] = {s->gdb ? "-O0" : "-O1"};
    int n = 1, code = breakpoint(s, files[0], stop, sizeof stop);
    if (code == 0 && s->out)
        code = check_out(s->out, files);
    if (code)
        return code;
    if (s->include)
        options[n++] = "-I", options[n++] = s->include;
    if (s->check || s->counters)
        options[n++] = "--check";
    snprintf(program, sizeof program, "%s%s", s->out ? (strchr(s->out, '/') ? "" : "./") : folder,
             s->out ? s->out : "/program");
    code = cuda_compile(files, program, options);
    if (code)
        return code;
    if (!set_environment(s))
        return complain(GR_NO_MEMORY, "cuda", "out of host memory for what the program is to be asked");
    if (!s->gdb)
        return cuda_run(program, arguments);
    snprintf(script, sizeof script, "%s/" SCRIPT_NAME, folder);
    code = *stop ? write_script(script, stop) : 0;
    return code ? code : cuda_run_in_gdb(program, arguments, *stop ? script : NULL);
}

static int run_cuda_command(int argc, char **argv)
{
    cuda_settings s = {0};
    const char *files[OPERANDS + 1] = {NULL};
    char folder[1024];
    int own = 1;
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    const options_end end = options_parse(&cuda_command, &s, own, argv, files);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (!files[0])
        return complain(GR_USAGE, "cuda", "which program? gradus cuda FILE.cu");
    if (s.seed && !(s.order.given && s.order.value == RANDOM))
        return complain(GR_USAGE, "cuda", "--seed is of --order random: give that, too");
    if (!program_folder_make(folder, sizeof folder))
        return complain(GR_IO_ERROR, "cuda", "no folder for the program can be made: %s; set TMPDIR", folder);
    const int code = compile_and_run(&s, files, folder, argv + own + (own < argc));
    program_folder_drop(folder);
    return code;
}

static const option_group groups[] = {
    {"What is looked at", look_options, NULL, 0}, {"The program", program_options, NULL, 0}, {0}};

const gradus_command cuda_command = {
    .name = "cuda",
    .purpose = "run a CUDA program without a GPU, check it, count what it asks of memory",
    .usage = "cuda FILE.cu [options] [-- ARGUMENTS]",
    .about =
        "Compile a CUDA program with g++ and run it without a GPU. Its exit code is the program's, 7 when something "
        "was found wrong in it. gradus-simt takes nvcc's place in Makefiles.",
    .operand = "FILE.cu",
    .operands = OPERANDS,
    .examples = "cuda sum.cu\ncuda sum.cu --check\ncuda sum.cu --counters -- 1000\n"
                "cuda sum.cu --gdb --break 14 --block 1 --thread 3",
    .groups = groups,
    .run = run_cuda_command,
};
