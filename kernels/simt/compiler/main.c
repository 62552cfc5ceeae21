/*
 * main.c - gradus-simt: takes nvcc's place in a Makefile (make NVCC=gradus-simt) and makes programs that run on the
 * emulator. --check, or GRADUS_SIMT_CHECK=1 in the environment: with checks of every access.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/compiler/compile.h"

static const char help[] =
    "Usage: gradus-simt [options] FILE.cu ... [-o PROGRAM]\n\n"
    "Compile CUDA C for the emulator, with g++. The options are nvcc's: -o -c -I -D -U -L -l -O -g -std -Xcompiler;\n"
    "what concerns GPUs alone (-arch, -gencode, -lineinfo, -rdc, ...) is accepted and has no effect.\n\n"
    "  --check   programs look at every access: races, bounds, reads of what nobody wrote\n"
    "            (also: GRADUS_SIMT_CHECK=1 in the environment)\n"
    "  --help    this text\n\n"
    "Example\n  gradus-simt --check -o sum sum.cu && ./sum\n";

/* Options of nvcc that say something about a GPU. Those in the first list have their value in the next word. */
static const char *const ignored_with_value[] = {"-arch",
                                                 "--gpu-architecture",
                                                 "-code",
                                                 "--gpu-code",
                                                 "-gencode",
                                                 "--generate-code",
                                                 "-maxrregcount",
                                                 "--maxrregcount",
                                                 "-Xptxas",
                                                 "--ptxas-options",
                                                 "-Xnvlink",
                                                 "-ccbin",
                                                 "--compiler-bindir",
                                                 "-t",
                                                 "--threads",
                                                 "-cudart",
                                                 "--cudart",
                                                 "-m",
                                                 "--machine",
                                                 "-diag-suppress",
                                                 "--diag-suppress",
                                                 "-Xcudafe",
                                                 NULL};
static const char *const ignored[] = {"-lineinfo",
                                      "--generate-line-info",
                                      "-G",
                                      "--device-debug",
                                      "-rdc=",
                                      "--relocatable-device-code=",
                                      "-dc",
                                      "-arch=",
                                      "--gpu-architecture=",
                                      "-code=",
                                      "--gpu-code=",
                                      "-gencode=",
                                      "--generate-code=",
                                      "-maxrregcount=",
                                      "--maxrregcount=",
                                      "--ptxas-options=",
                                      "-Xptxas=",
                                      "-ccbin=",
                                      "--compiler-bindir=",
                                      "-use_fast_math",
                                      "--use_fast_math",
                                      "-m64",
                                      "-m32",
                                      "--extended-lambda",
                                      "-extended-lambda",
                                      "--expt-extended-lambda",
                                      "--expt-relaxed-constexpr",
                                      "-expt-relaxed-constexpr",
                                      "-expt-extended-lambda",
                                      "-cudart=",
                                      "--cudart=",
                                      "--threads=",
                                      "-t=",
                                      "-restrict",
                                      "--restrict",
                                      "-fmad=",
                                      "--fmad=",
                                      "-ftz=",
                                      "-prec-div=",
                                      "-prec-sqrt=",
                                      "-v",
                                      "--verbose",
                                      "-keep",
                                      "--keep",
                                      "-lcudart",
                                      "-lcuda",
                                      "-lcudadevrt",
                                      "-lcurand",
                                      "-lnvToolsExt",
                                      "-diag-suppress=",
                                      "--diag-suppress=",
                                      "-MMD",
                                      "-MD",
                                      "-Wno-deprecated-gpu-targets",
                                      "-forward-unknown-to-host-compiler",
                                      "--forward-unknown-to-host-compiler",
                                      "--default-stream=",
                                      "-default-stream=",
                                      NULL};

/* Whether word is one of the list; an entry with = at its end is a beginning. */
static bool listed(const char *const *list, const char *word)
{
    for (int i = 0; list[i]; i++) {
        const size_t n = strlen(list[i]);
        if (list[i][n - 1] == '=' ? !strncmp(word, list[i], n) : !strcmp(word, list[i]))
            return true;
    }
    return false;
}

/* "-Wall,-Wextra" as words. */
static void add_split(gr__words *to, const char *words)
{
    char *copy = strdup(words), *rest = copy;
    for (char *word; rest && (word = strsep(&rest, ","));)
        if (*word)
            gr__words_add(to, word);
    free(copy);
}

/* An option of one letter whose value may be joined to it. Both words go to the list. */
static bool take_lettered(gr__words *to, const char *letters, char **argv, int *i)
{
    if (!argv[*i][1] || !strchr(letters, argv[*i][1]))
        return false;
    gr__words_add(to, argv[*i]);
    if (!argv[*i][2] && argv[*i + 1])
        gr__words_add(to, argv[++*i]);
    return true;
}

/* The value of --name=VALUE or of --name VALUE; NULL: it is another option. */
static const char *value_of(const char *name, char **argv, int *i)
{
    const size_t n = strlen(name);
    if (!strcmp(argv[*i], name) && argv[*i + 1])
        return argv[++*i];
    return !strncmp(argv[*i], name, n) && argv[*i][n] == '=' ? argv[*i] + n + 1 : NULL;
}

/* Launches become lambdas that C++11, which many a Makefile asks of nvcc, has not: C++14 takes its programs, too. */
static const char *standard(const char *asked)
{
    return !strcmp(asked, "c++03") || !strcmp(asked, "c++11") ? "c++14" : asked;
}

/* Options whose values go to g++ or its linker. */
static bool take_value(gr__compile_job *job, char **argv, int *i)
{
    const char *value;
    char joined[256];
    if ((value = value_of("-Xcompiler", argv, i)) || (value = value_of("--compiler-options", argv, i)))
        add_split(&job->options, value);
    else if ((value = value_of("-Xlinker", argv, i)))
        gr__words_add(&job->link, "-Xlinker"), gr__words_add(&job->link, value);
    else if ((value = value_of("-std", argv, i)) || (value = value_of("--std", argv, i)))
        snprintf(joined, sizeof joined, "-std=%s", standard(value)), gr__words_add(&job->options, joined);
    else if ((value = value_of("-o", argv, i)) || (value = value_of("--output-file", argv, i)))
        job->out = value;
    else if ((value = value_of("--define-macro", argv, i)))
        snprintf(joined, sizeof joined, "-D%s", value), gr__words_add(&job->options, joined);
    else if ((value = value_of("--include-path", argv, i)))
        snprintf(joined, sizeof joined, "-I%s", value), gr__words_add(&job->options, joined);
    else if ((value = value_of("--optimize", argv, i)))
        snprintf(joined, sizeof joined, "-O%s", value), gr__words_add(&job->options, joined);
    else if ((value = value_of("-x", argv, i)))
        return true; /* -x cu: a file's ending says it here */
    else
        return false;
    return true;
}

/* Returns 0, or the exit code after a complaint. */
static int take_option(gr__compile_job *job, char **argv, int *i)
{
    const char *word = argv[*i];
    if (!strcmp(word, "--check"))
        job->check = true;
    else if (!strcmp(word, "-c") || !strcmp(word, "--compile") || !strcmp(word, "-dc"))
        job->compile_only = true;
    else if (listed(ignored_with_value, word) && argv[*i + 1])
        ++*i;
    else if (listed(ignored, word) || take_value(job, argv, i))
        return 0;
    else if (!take_lettered(&job->link, "lL", argv, i) && !take_lettered(&job->options, "IDU", argv, i)) {
        if (word[1] != 'O' && word[1] != 'g' && word[1] != 'W' && word[1] != 'f' && strcmp(word, "-w") &&
            strcmp(word, "-pthread") && strcmp(word, "-isystem") && strcmp(word, "-shared")) {
            fprintf(stderr, "gradus-simt: no such option: %s; see gradus-simt --help\n", word);
            return 2;
        }
        gr__words_add(strcmp(word, "-shared") ? &job->options : &job->link, word);
        if (!strcmp(word, "-isystem") && argv[*i + 1])
            gr__words_add(&job->options, argv[++*i]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *check = getenv("GRADUS_SIMT_CHECK");
    gr__compile_job job = {.name = "gradus-simt", .check = check && *check && strcmp(check, "0")};
    int code = 0;
    for (int i = 1; i < argc && !code; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(help, stdout);
            return 0;
        }
        if (!strcmp(argv[i], "--version")) {
            puts("gradus-simt: CUDA C for the emulator of Gradus, release 12.0"); /* Makefiles look for the release */
            return 0;
        }
        if (argv[i][0] == '-' && argv[i][1])
            code = take_option(&job, argv, &i);
        else
            gr__words_add(&job.files, argv[i]);
    }
    if (!code && !job.files.count) {
        fprintf(stderr, "gradus-simt: no file to compile; see gradus-simt --help\n");
        code = 2;
    }
    if (!code)
        code = gr__compile(&job);
    gr__words_free(&job.files);
    gr__words_free(&job.options);
    gr__words_free(&job.link);
    return code;
}
