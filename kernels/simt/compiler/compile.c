/* compile.c - see compile.h. g++ -E, translate, g++; as often as there are sources, then one link. */
#include "kernels/simt/compiler/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/simt/compiler/folder.h"
#include "kernels/simt/compiler/gxx.h"
#include "kernels/simt/compiler/libraries.h"
#include "kernels/simt/compiler/translate.h"

static bool has_ending(const char *file, const char *const *endings)
{
    const char *dot = strrchr(file, '.');
    for (int i = 0; dot && endings[i]; i++)
        if (!strcmp(dot, endings[i]))
            return true;
    return false;
}

static const char *const sources[] = {".cu", ".cpp", ".cc", ".cxx", ".c", NULL};
static const char *const cuda_sources[] = {".cu", NULL};

/* What g++ links as it is: objects and libraries, also those with a version behind. */
static bool is_linked(const char *file)
{
    return has_ending(file, (const char *const[]){".o", ".a", ".so", NULL}) || strstr(file, ".so.");
}

static bool are_one_file(const char *a, const char *b)
{
    struct stat here, there;
    return !stat(a, &here) && !stat(b, &there) && here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* Returns 0, or the exit code after a complaint. */
static int check_file(const gr__compile_job *job, const char *file)
{
    if (access(file, R_OK))
        fprintf(stderr, "%s: %s: %s\n", job->name, file, strerror(errno));
    else if (!has_ending(file, sources) && !is_linked(file))
        fprintf(stderr, "%s: %s: a CUDA program is a file whose name ends in .cu\n", job->name, file);
    else if (job->out && are_one_file(job->out, file))
        fprintf(stderr, "%s: %s would be written over, and it is read; give what is made another name\n", job->name,
                file);
    else
        return 0;
    return GR__NO_FILE;
}

static gr__words preprocessor(const gr__compile_job *job, const gr__home *h, const char *file)
{
    gr__words w = {0};
    char path[GR__PATH_ROOM + 64];
    gr__words_add(&w, gr__gxx_name());
    gr__words_add(&w, "-E");
    gr__words_add(&w, "-std=c++17");
    gr__words_add_all(&w, &job->options);
    snprintf(path, sizeof path, "%.4000s/kernels/simt/cuda", h->headers);
    gr__words_add(&w, "-isystem");
    gr__words_add(&w, path);
    gr__words_add(&w, "-isystem");
    gr__words_add(&w, h->headers);
    if (has_ending(file, cuda_sources)) {
        gr__words_add(&w, "-D__CUDACC__");
        gr__words_add(&w, "-D__NVCC__");
        gr__words_add(&w, "-include");
        gr__words_add(&w, "cuda_runtime.h");
    }
    gr__words_add(&w, "-x");
    gr__words_add(&w, has_ending(file, (const char *const[]){".c", NULL}) ? "c" : "c++");
    gr__words_add(&w, file);
    return w;
}

/*
 * DWARF 4: of DWARF 5's list of files, which begins with 0, addr2line of binutils 2.40 takes the second, the first one
 * that is included, for the first. Products and sums stay apart; the checks want accesses as they are written
 * (kernels/simt/CMakeLists.txt).
 */
static gr__words code_maker(const gr__compile_job *job, const char *from, const char *to)
{
    static const char *const always[] = {"-O1", "-gdwarf-4", "-std=c++17", NULL};
    static const char *const kept[] = {"-fno-strict-aliasing", "-ffp-contract=off", "-Wno-unknown-pragmas",
                                       "-Wno-attributes", NULL};
    static const char *const checks[] = {"-O1",     "-fsanitize=thread,alignment,bounds", "-fno-tree-sra",
                                         "--param", "tsan-instrument-func-entry-exit=0",  "-Wno-tsan",
                                         NULL};
    gr__words w = {0};
    gr__words_add(&w, gr__gxx_name());
    for (int i = 0; always[i]; i++)
        gr__words_add(&w, always[i]);
    gr__words_add_all(&w, &job->options);
    for (int i = 0; kept[i]; i++)
        gr__words_add(&w, kept[i]);
    for (int i = 0; job->check && checks[i]; i++)
        gr__words_add(&w, checks[i]);
    gr__words_add(&w, "-c");
    gr__words_add(&w, "-x");
    gr__words_add(&w, "c++-cpp-output");
    gr__words_add(&w, from);
    gr__words_add(&w, "-o");
    gr__words_add(&w, to);
    return w;
}

static int write_file(const gr__compile_job *job, const char *path, const char *text, size_t length)
{
    FILE *f = fopen(path, "w");
    const bool good = f && fwrite(text, 1, length, f) == length;
    if (!f || fclose(f) || !good) {
        fprintf(stderr, "%s: %s: %s\n", job->name, path, strerror(errno));
        return GR__NO_TOOL;
    }
    return 0;
}

/* file to the object at to, through a file in folder. */
static int compile_one(const gr__compile_job *job, const gr__home *h, const char *file, const char *folder,
                       const char *to)
{
    char *text = NULL, message[512] = "", between[GR__PATH_ROOM];
    size_t length = 0, translated_length = 0;
    if (gr__asks_for_libraries(file))
        return GR__BAD_SOURCE;
    gr__words command = preprocessor(job, h, file);
    int code = gr__gxx_run(job->name, h, &command, &text, &length);
    char *translated =
        code ? NULL : gr__simt_translate(text ? text : "", length, &translated_length, message, sizeof message);
    free(text);
    if (code)
        return code;
    if (!translated) {
        fprintf(stderr, "%s\n", message);
        return GR__BAD_SOURCE;
    }
    snprintf(between, sizeof between, "%.3900s/translated.ii", folder);
    code = write_file(job, between, translated, translated_length);
    free(translated);
    if (code)
        return code;
    command = code_maker(job, between, to);
    return gr__gxx_run(job->name, h, &command, NULL, NULL);
}

/* In kernels they give and take what the checks have to know of: runtime/heap.c. */
static const char wrapped[] = "-Wl,--wrap=malloc,--wrap=free,--wrap=_Znwm,--wrap=_Znam,--wrap=_ZdlPv,--wrap=_ZdaPv,"
                              "--wrap=_ZdlPvm,--wrap=_ZdaPvm";

static int link_all(const gr__compile_job *job, const gr__home *h, const gr__words *objects)
{
    gr__words w = {0};
    gr__words_add(&w, gr__gxx_name());
    gr__words_add_all(&w, objects);
    gr__words_add(&w, "-o");
    gr__words_add(&w, job->out ? job->out : "a.out");
    gr__words_add_all(&w, &job->link);
    gr__words_add(&w, wrapped);
    gr__words_add(&w, h->library);
    gr__words_add(&w, "-lpthread");
    gr__words_add(&w, "-ldl");
    gr__words_add(&w, "-lm");
    return gr__gxx_run(job->name, h, &w, NULL, NULL);
}

/* Where file's object goes: into the folder, or where -c wants it. */
static void object_path(const gr__compile_job *job, const char *folder, int i, char *path, size_t room)
{
    const char *base = strrchr(job->files.word[i], '/');
    base = base ? base + 1 : job->files.word[i];
    const int stem = (int)(strrchr(base, '.') - base);
    if (!job->compile_only)
        snprintf(path, room, "%s/%d.o", folder, i);
    else if (job->out)
        snprintf(path, room, "%s", job->out);
    else
        snprintf(path, room, "%.*s.o", stem, base);
}

static int compile_in(const gr__compile_job *job, const gr__home *h, const char *folder)
{
    gr__words objects = {0};
    char object[GR__PATH_ROOM];
    int code = 0;
    for (int i = 0; i < job->files.count && !code; i++) {
        const char *file = job->files.word[i];
        code = check_file(job, file);
        if (code)
            break;
        if (has_ending(file, sources)) {
            object_path(job, folder, i, object, sizeof object);
            code = compile_one(job, h, file, folder, object);
            gr__words_add(&objects, object);
        } else {
            gr__words_add(&objects, file);
        }
    }
    if (!code && !job->compile_only)
        code = link_all(job, h, &objects);
    gr__words_free(&objects);
    return code;
}

int gr__compile(const gr__compile_job *job)
{
    gr__home h;
    char folder[1024];
    if (!gr__home_find(&h, job->check)) {
        fprintf(stderr,
                "%s: the emulator's headers and library are not beside this program: install Gradus anew, or "
                "build the target gradus-simt\n",
                job->name);
        return GR__NO_TOOL;
    }
    if (!gr__folder_open(folder, sizeof folder)) {
        fprintf(stderr, "%s: %s: %s\n", job->name, folder, strerror(errno));
        return GR__NO_TOOL;
    }
    const int code = compile_in(job, &h, folder);
    gr__folder_drop(folder);
    return code;
}
