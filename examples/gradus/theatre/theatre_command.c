/* theatre_command.c - gradus theatre: one block of a CUDA program's kernel, step by step, as a page of HTML. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "cuda/cuda_run.h"
#include "terminal/output.h"
#include "terminal/system.h"
#include "theatre/theatre.h"

enum { OPERANDS = 8 };

typedef struct {
    const char *kernel, *block, *include, *out;
    int64_t launch, limit;
    bool compiled; /* what is to be shown is a program already */
} theatre_settings;

static const option theatre_options[] = {
    TEXT_OPTION("kernel", "NAME", offsetof(theatre_settings, kernel), "of this kernel (default: the first launched)"),
    TEXT_OPTION("block", "X[,Y,Z]", offsetof(theatre_settings, block), "this block of its grid (default: 0)"),
    COUNT_OPTION("launch", "N", offsetof(theatre_settings, launch), 1, INT64_MAX,
                 "of the kernel's N-th launch (default: 1)"),
    COUNT_OPTION("limit", "N", offsetof(theatre_settings, limit), 1, 1000000,
                 "steps of warps that the page may hold (default: 20000, of some 50 to 250 bytes each); what is left "
                 "out is said there"),
    TEXT_OPTION("include", "FOLDER", offsetof(theatre_settings, include), "look for headers there, too"),
    TEXT_OPTION("out", "PAGE.html", offsetof(theatre_settings, out), "where the page goes (default: theatre.html)"),
    {0},
};

/* "1,2" as the block (1,2,0). */
static bool read_block(const char *text, unsigned block[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        const long n = strtol(text, &end, 10);
        if (end == text || *text == '-' || n > INT_MAX || (*end && *end != ','))
            return false;
        block[i] = (unsigned)n;
        if (!*end)
            return true;
        text = end + 1;
    }
    return false;
}

/* Whether it is a program, which need not be compiled. */
static bool is_program(const char *file)
{
    const char *dot = strrchr(file, '.');
    return !(dot && (!strcmp(dot, ".cu") || !strcmp(dot, ".cpp"))) && is_executable_file(file);
}

static int compile_and_show(const theatre_settings *s, const char *const *files, const char *folder, char **arguments)
{
    char program[PATH_MAX];
    const char *options[] = {"--check", s->include ? "-I" : NULL, s->include, NULL};
    scene_wish wish = {.kernel = s->kernel, .launch = s->launch, .limit = s->limit};
    int code = 0;
    if (s->block && !read_block(s->block, wish.block))
        return complain(GR_USAGE, "theatre", "--block takes one to three numbers: 1 or 1,0,2");
    code = output_check_spares(s->out, files, OPERANDS, "theatre");
    if (code)
        return code;
    snprintf(program, sizeof program, "%s/" PROGRAM_NAME, folder);
    if (s->compiled)
        snprintf(program, sizeof program, "%s%s", strchr(files[0], '/') ? "" : "./", files[0]);
    else
        code = cuda_compile(files, program, options);
    return code ? code : theatre_show(program, arguments, &wish, folder, s->out ? s->out : "theatre.html");
}

static int run_theatre(int argc, char **argv)
{
    theatre_settings s = {0};
    const char *files[OPERANDS + 1] = {NULL};
    char folder[1024];
    int own = 1;
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    const options_end end = options_parse(&theatre_command, &s, own, argv, files);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (!files[0])
        return complain(GR_USAGE, "theatre", "which program? gradus theatre FILE.cu");
    s.compiled = is_program(files[0]); /* which may end this program: before there is anything to clear away */
    if (!program_folder_make(folder, sizeof folder))
        return complain(GR_IO_ERROR, "theatre", "no folder for the program can be made: %s; set TMPDIR", folder);
    const int code = compile_and_show(&s, files, folder, argv + own + (own < argc));
    program_folder_drop(folder);
    return code;
}

static const option_group groups[] = {{"What is shown", theatre_options, NULL, 0}, {0}};

const gradus_command theatre_command = {
    .name = "theatre",
    .purpose = "a block of a CUDA kernel, step by step, as a page for a browser",
    .usage = "theatre FILE.cu [options] [-- ARGUMENTS]\ntheatre PROGRAM [options] [-- ARGUMENTS]",
    .about = "Run a CUDA program without a GPU and write what one block of a kernel does as a page of HTML, which "
             "replays it: the line of source, the lanes at work, the sectors of global memory and the banks of shared "
             "memory that they want, barriers and who waits. The page needs nothing but a browser. Its exit code is "
             "the program's, 7 when something was found wrong in it: then the page shows what led there. PROGRAM was "
             "compiled by gradus-simt --check, or is a gradus built with every access checked (cmake --preset check).",
    .operand = "FILE.cu",
    .operands = OPERANDS,
    .examples = "theatre transpose.cu --out transpose.html\ntheatre sum.cu --kernel block_sums --block 3 -- 1000\n"
                "theatre build/check/gradus --kernel shared_tile -- bench gemm --ladder --device simt",
    .groups = groups,
    .run = run_theatre,
};
