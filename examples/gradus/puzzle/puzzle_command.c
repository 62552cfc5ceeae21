/*
 * puzzle_command.c - gradus puzzle: exercises in CUDA C. Each is a folder of examples/puzzles with a task, a program
 * with a hole, and a check, which is compiled with the reader's file and run with every access looked at.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "cuda/cuda_run.h"
#include "terminal/output.h"
#include "terminal/system.h"
#include "terminal/values.h"
#include "theatre/theatre.h"

typedef struct {
    int64_t hint;
    const char *theatre;
    bool list, task;
} puzzle_settings;

static const option puzzle_options[] = {
    FLAG_OPTION("list", offsetof(puzzle_settings, list), "name all puzzles"),
    FLAG_OPTION("task", offsetof(puzzle_settings, task), "print the task"),
    COUNT_OPTION("hint", "K", offsetof(puzzle_settings, hint), 1, 9, "print hint K of the puzzle: 1, then 2, ..."),
    TEXT_OPTION("theatre", "PAGE.html", offsetof(puzzle_settings, theatre),
                "write what the first block of your kernel does as a page (gradus theatre)"),
    {0},
};

/* One puzzle: where it lies and its own name, "01_map". */
typedef struct {
    char root[PATH_MAX - 512], name[NAME_MAX + 1];
} puzzle;

static bool find_root(char *root, size_t room)
{
    if (!find_companion("examples", "puzzles/puzzle.h", root, room))
        return false;
    *strrchr(root, '/') = '\0';
    return true;
}

/* FILE of the puzzle. */
static const char *path_of(const puzzle *p, const char *file, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s/%s", p->root, p->name, file);
    return path;
}

/* The folder whose name begins with number and an underscore, if *found. Returns 0 or an exit code, complained of. */
static int find_puzzle(puzzle *p, long number, bool *found)
{
    DIR *folder = opendir(p->root);
    if (!folder)
        return complain_of_file(p->root, "cannot be opened", "puzzle");
    *found = false;
    errno = 0;
    for (struct dirent *e; !*found && (e = readdir(folder));) {
        char *end;
        *found = strtol(e->d_name, &end, 10) == number && end != e->d_name && *end == '_';
        if (*found)
            snprintf(p->name, sizeof p->name, "%s", e->d_name);
    }
    const int code = *found || !errno ? 0 : complain_of_file(p->root, "cannot be read", "puzzle");
    closedir(folder);
    return code;
}

/*
 * Prints the page's lines from the heading that begins with from up to the next one with "## "; *any: there are some.
 * Returns 0 or an exit code, complained of.
 */
static int print_part(const puzzle *p, const char *from, bool *any)
{
    char path[PATH_MAX], line[1024];
    FILE *f = fopen(path_of(p, "README.md", path), "r");
    bool inside = *any = false;
    if (!f)
        return complain_of_file(path, "cannot be opened", "puzzle");
    while (fgets(line, sizeof line, f)) {
        if (!strncmp(line, "# ", 2) || !strncmp(line, "## ", 3))
            inside = !strncmp(line, from, strlen(from));
        if (inside)
            fputs(line, stdout);
        *any |= inside;
    }
    const int code = ferror(f) ? complain_of_file(path, "cannot be read", "puzzle") : 0;
    fclose(f);
    return code;
}

static int print_task(const puzzle *p)
{
    bool any;
    return print_part(p, "# ", &any);
}

static int print_hint(const puzzle *p, int number)
{
    char heading[32];
    bool any;
    snprintf(heading, sizeof heading, "## Hint %d\n", number);
    const int code = print_part(p, heading, &any);
    return code || any ? code
                       : complain(GR_USAGE, "puzzle", "there is no hint %d; the solution is in %s", number,
                                  "examples/puzzles/solutions");
}

static int print_title(const puzzle *p)
{
    char path[PATH_MAX], line[1024] = "";
    FILE *f = fopen(path_of(p, "README.md", path), "r");
    if (!f)
        return complain_of_file(path, "cannot be opened", "puzzle");
    if (fgets(line, sizeof line, f))
        printf("%s", line + strspn(line, "# "));
    const int code = ferror(f) ? complain_of_file(path, "cannot be read", "puzzle") : 0;
    fclose(f);
    return code;
}

static int list(puzzle *p)
{
    bool found = true;
    int code = 0;
    for (long n = 1; !code && found; n++) {
        code = find_puzzle(p, n, &found);
        if (!code && found)
            code = print_title(p);
    }
    return code;
}

/* The file with the hole as file, which is not there yet. */
static int begin(const puzzle *p, const char *file)
{
    char from[PATH_MAX], text[16384];
    FILE *in = fopen(path_of(p, "puzzle.cu", from), "r"), *out = in ? fopen(file, "wx") : NULL;
    const size_t n = in ? fread(text, 1, sizeof text, in) : 0;
    const bool written = out && fwrite(text, 1, n, out) == n;
    const int why = errno;
    if (in)
        fclose(in);
    if ((out && fclose(out)) || !written) {
        if (out)
            remove(file); /* or the next call would take it for an attempt */
        return complain(why == ENOMEM ? GR_NO_MEMORY : GR_IO_ERROR, "puzzle", "%s: %s", file, strerror(why));
    }
    const int code = print_task(p);
    if (code)
        return code;
    printf("The kernel's beginning is in %s. Write there, then: gradus puzzle %ld\n", file, strtol(p->name, NULL, 10));
    return 0;
}

/* Compiles the check with file and runs it, watched if a page is wanted. */
static int check(const puzzle *p, const char *file, const char *page)
{
    char path[PATH_MAX], full[PATH_MAX], define[PATH_MAX + 16], folder[1024], program[1200];
    if (!realpath(file, full))
        return complain(GR_BAD_DATA, "puzzle", "%s: %s", file, strerror(errno));
    int code = output_check_spares(page, &(const char *){full}, 1, "puzzle");
    if (code == 0 && page)
        code = output_check(page, "puzzle");
    if (code)
        return code;
    if (!program_folder_make(folder, sizeof folder))
        return complain(GR_IO_ERROR, "puzzle", "no folder for the program can be made: %s; set TMPDIR", folder);
    snprintf(define, sizeof define, "-DPUZZLE=\"%s\"", full);
    snprintf(program, sizeof program, "%s/" PROGRAM_NAME, folder);
    const char *const files[] = {path_of(p, "check.cu", path), NULL};
    const char *const options[] = {"--check", "-I", p->root, define, NULL};
    code = cuda_compile(files, program, options);
    if (code == GR_BAD_DATA)
        complain(code, "puzzle",
                 "%s does not compile; where a line of check.cu is named, the kernel there has another name or other "
                 "parameters than the one that the first call has begun",
                 file);
    char *none[] = {NULL};
    if (!code && page)
        code = theatre_show(program, none, &(scene_wish){0}, folder, page) ? GR_DEVICE_FAULT : 0;
    else if (!code)
        code = cuda_run(program, none) ? GR_DEVICE_FAULT : 0;
    program_folder_drop(folder);
    if (code == GR_DEVICE_FAULT)
        printf("not yet; --hint 1 helps, --task says again what is wanted\n");
    return code;
}

static int one(const puzzle *p, const puzzle_settings *s, const char *file)
{
    char own[NAME_MAX + 8];
    snprintf(own, sizeof own, "%s.cu", p->name);
    if (s->task)
        return print_task(p);
    if (s->hint)
        return print_hint(p, (int)s->hint);
    if (file || !access(own, F_OK))
        return check(p, file ? file : own, s->theatre);
    return begin(p, own);
}

static int run_puzzle_command(int argc, char **argv)
{
    puzzle_settings s = {0};
    puzzle p;
    const char *words[3] = {NULL};
    const options_end end = options_parse(&puzzle_command, &s, argc, argv, words);
    int64_t number = 0;
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (!find_root(p.root, sizeof p.root))
        return complain(GR_IO_ERROR, "puzzle", "the puzzles are not beside this program: install Gradus anew");
    if (s.list)
        return list(&p);
    bool found = false;
    const int code = words[0] && parse_count(words[0], 1, 99, &number) ? find_puzzle(&p, (long)number, &found) : 0;
    if (code)
        return code;
    if (!found)
        return complain(GR_USAGE, "puzzle", "which puzzle? %s is no number of one; see gradus puzzle --list",
                        words[0] ? words[0] : "nothing");
    return one(&p, &s, words[1]);
}

static const option_group groups[] = {{"What is shown", puzzle_options, NULL, 0}, {0}};

const gradus_command puzzle_command = {
    .name = "puzzle",
    .purpose = "exercises in CUDA C, checked without a GPU",
    .usage = "puzzle N [FILE.cu] [options]\npuzzle --list",
    .about =
        "Exercises in CUDA C, without a GPU. The first call for a puzzle prints its task and writes a file with a hole "
        "into this folder; later calls check what you wrote there: the right result, no race, and for some a budget of "
        "what the kernel may ask of memory. Exit code 0 solved, 7 not yet, 3 it does not compile.",
    .operand = "N [FILE.cu]",
    .operands = 2,
    .examples = "puzzle 1\npuzzle 1 my_map.cu\npuzzle 1 --hint 1\npuzzle 12 --theatre transpose.html",
    .groups = groups,
    .run = run_puzzle_command,
};
