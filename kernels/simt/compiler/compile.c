/* compile.c - see compile.h. g++ -E, translate, g++; as often as there are sources, then one link. */
#include "kernels/simt/compiler/compile.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/simt/compiler/process.h"
#include "kernels/simt/compiler/translate.h"

enum { PATH_ROOM = 4096, BAD_SOURCE = 1, NO_FILE = 2, NO_TOOL = 5 };

void gr__words_add(gr__words *w, const char *word)
{
    if (w->count + 1 >= w->room) {
        char **more = realloc(w->word, (size_t)(2 * w->room + 16) * sizeof *more);
        if (!more)
            abort(); /* a few words do not fit: nothing can be said or done */
        w->word = more, w->room = 2 * w->room + 16;
    }
    w->word[w->count] = strdup(word);
    w->word[++w->count] = NULL;
}

static void add_all(gr__words *w, const gr__words *from)
{
    for (int i = 0; i < from->count; i++)
        gr__words_add(w, from->word[i]);
}

void gr__words_free(gr__words *w)
{
    for (int i = 0; i < w->count; i++)
        free(w->word[i]);
    free(w->word);
    *w = (gr__words){0};
}

bool gr__folder_open(char *path, int room)
{
    const char *where = getenv("TMPDIR");
    snprintf(path, (size_t)room, "%s/gradus-cuda-XXXXXX", where && *where ? where : "/tmp");
    return mkdtemp(path);
}

void gr__folder_drop(const char *path)
{
    char file[PATH_ROOM];
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlink(file);
    }
    if (folder)
        closedir(folder);
    rmdir(path);
}

/* --- what there is ------------------------------------------------------------------------------------------------ */

/* Where headers and library are. */
typedef struct {
    char headers[PATH_ROOM], library[PATH_ROOM + 64];
} home;

static bool is_home(home *h, const char *here, const char *headers, const char *library, bool check)
{
    char probe[PATH_ROOM + 64];
    snprintf(h->headers, sizeof h->headers, "%s/%s", here, headers);
    snprintf(probe, sizeof probe, "%.4000s/kernels/simt/cuda/cuda_runtime.h", h->headers);
    snprintf(h->library, sizeof h->library, "%.3800s/%s/libgradus-simt%s.a", here, library, check ? "-check" : "");
    return !access(probe, R_OK) && !access(h->library, R_OK);
}

/* Beside the running program: as installed (PREFIX/bin), or as built. */
static bool find_home(home *h, bool check)
{
    char here[PATH_ROOM - 256];
    const ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    char *slash = n > 0 ? (here[n] = '\0', strrchr(here, '/')) : NULL;
    if (!slash)
        return false;
    *slash = '\0';
    return is_home(h, here, "../include/gradus-simt", "../" GRADUS_SIMT_LIBDIR, check) ||
           is_home(h, here, "simt/include", "simt", check);
}

static const char *compiler(void)
{
    const char *cxx = getenv("GRADUS_CXX");
    return cxx && *cxx ? cxx : "g++";
}

static int complain_of_compiler(const gr__compile_job *job)
{
    fprintf(stderr,
            "%s: there is no %s, which compiles CUDA C for the emulator: install it (Debian, Ubuntu: apt-get install "
            "g++) or name another one in GRADUS_CXX\n",
            job->name, compiler());
    return NO_TOOL;
}

/* --- what g++ says ------------------------------------------------------------------------------------------------ */

/* Libraries that learners meet in books and that are not here, by how their headers begin. */
static const char *library_of(const char *header)
{
    static const char *const missing[][2] = {
        {"thrust/", "Thrust"},
        {"cub/", "CUB"},
        {"cublas", "cuBLAS"},
        {"curand", "cuRAND"},
        {"cufft", "cuFFT"},
        {"cusparse", "cuSPARSE"},
        {"cusolver", "cuSOLVER"},
        {"nvrtc", "NVRTC"},
        {"cutlass/", "CUTLASS"},
        {"cuda/", "libcu++"},
        {"texture_fetch", "textures"},
        {"cudnn", "cuDNN"},
        {"npp", "NPP"},
        {"nvToolsExt", "NVTX"},
        {"nvtx3/", "NVTX"},
    };
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (!strncmp(header, missing[i][0], strlen(missing[i][0])))
            return missing[i][1];
    return NULL;
}

/* Looks for #include <thrust/...> and the like, so that a machine with CUDA's headers says the same as one without. */
static int refuse_libraries(const char *file)
{
    char line[1024], header[512];
    FILE *f = fopen(file, "r");
    int found = 0;
    for (int number = 1; f && fgets(line, sizeof line, f); number++) {
        const char *library = sscanf(line, " # include %*[<\"]%511[^>\"]", header) == 1 ? library_of(header) : NULL;
        if (library)
            fprintf(stderr,
                    "%s:%d: error: %s is not here: the emulator has the language and the runtime of CUDA, not %s\n",
                    file, number, header, library);
        found |= library != NULL;
    }
    if (f)
        fclose(f);
    return found ? BAD_SOURCE : 0;
}

/* Whether a line begins a message ("FILE:LINE: ...", "In file included from ..."), and not a quotation below one. */
static bool begins_message(const char *line)
{
    return *line != ' ' && *line != '\0';
}

/* Passes on what speaks of the writer's files. Whatever it is, if nothing would be left. */
static void pass_on(const home *h, const char *text, size_t length)
{
    bool shown = false, any = false;
    for (int pass = 0; pass < 2 && !any; pass++) {
        for (const char *line = text; line < text + length;) {
            const char *end = memchr(line, '\n', (size_t)(text + length - line));
            const size_t n = end ? (size_t)(end - line) : (size_t)(text + length - line);
            if (begins_message(line))
                shown = pass || (strncmp(line, h->headers, strlen(h->headers)) &&
                                 strncmp(line, "In file included", 16) && strncmp(line, "cc1plus:", 8));
            if (shown)
                fprintf(stderr, "%.*s\n", (int)n, line);
            any |= shown && n > 0;
            line += n + 1;
        }
        any |= length == 0;
    }
}

/* Runs g++. Returns 0 or what to end with. */
static int run(const gr__compile_job *job, const home *h, gr__words *command, char **out, size_t *length)
{
    char *said = NULL;
    size_t said_length = 0;
    const int code = gr__process(command->word, out, length, &said, &said_length);
    if (said) {
        said = realloc(said, said_length + 1);
        said[said_length] = '\0';
        pass_on(h, said, said_length);
    }
    free(said);
    gr__words_free(command);
    if (code == GR__NO_PROGRAM)
        return complain_of_compiler(job);
    return code ? BAD_SOURCE : 0;
}

/* --- one source --------------------------------------------------------------------------------------------------- */

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

static gr__words preprocessor(const gr__compile_job *job, const home *h, const char *file)
{
    gr__words w = {0};
    char path[PATH_ROOM + 64];
    gr__words_add(&w, compiler());
    gr__words_add(&w, "-E");
    gr__words_add(&w, "-std=c++17");
    add_all(&w, &job->options);
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

/* Products and sums stay apart; the checks want accesses as they are written (kernels/simt/CMakeLists.txt). */
static gr__words code_maker(const gr__compile_job *job, const char *from, const char *to)
{
    static const char *const always[] = {"-O1", "-g", "-std=c++17", NULL};
    static const char *const kept[] = {"-fno-strict-aliasing", "-ffp-contract=off", "-Wno-unknown-pragmas",
                                       "-Wno-attributes", NULL};
    static const char *const checks[] = {"-O1",     "-fsanitize=thread,alignment,bounds", "-fno-tree-sra",
                                         "--param", "tsan-instrument-func-entry-exit=0",  NULL};
    gr__words w = {0};
    gr__words_add(&w, compiler());
    for (int i = 0; always[i]; i++)
        gr__words_add(&w, always[i]);
    add_all(&w, &job->options);
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
        return NO_TOOL;
    }
    return 0;
}

/* file to the object at to, through a file in folder. */
static int compile_one(const gr__compile_job *job, const home *h, const char *file, const char *folder, const char *to)
{
    char *text = NULL, message[512] = "", between[PATH_ROOM];
    size_t length = 0, translated_length = 0;
    int code = refuse_libraries(file);
    if (code)
        return code;
    gr__words command = preprocessor(job, h, file);
    code = run(job, h, &command, &text, &length);
    char *translated =
        code ? NULL : gr__simt_translate(text ? text : "", length, &translated_length, message, sizeof message);
    free(text);
    if (code)
        return code;
    if (!translated) {
        fprintf(stderr, "%s\n", message);
        return BAD_SOURCE;
    }
    snprintf(between, sizeof between, "%.3900s/translated.ii", folder);
    code = write_file(job, between, translated, translated_length);
    free(translated);
    if (code)
        return code;
    command = code_maker(job, between, to);
    return run(job, h, &command, NULL, NULL);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static int link_all(const gr__compile_job *job, const home *h, const gr__words *objects)
{
    gr__words w = {0};
    gr__words_add(&w, compiler());
    add_all(&w, objects);
    gr__words_add(&w, "-o");
    gr__words_add(&w, job->out ? job->out : "a.out");
    add_all(&w, &job->link);
    gr__words_add(&w, h->library);
    gr__words_add(&w, "-lpthread");
    gr__words_add(&w, "-ldl");
    gr__words_add(&w, "-lm");
    return run(job, h, &w, NULL, NULL);
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

static int compile_in(const gr__compile_job *job, const home *h, const char *folder)
{
    gr__words objects = {0};
    char object[PATH_ROOM];
    int code = 0;
    for (int i = 0; i < job->files.count && !code; i++) {
        const char *file = job->files.word[i];
        if (access(file, R_OK)) {
            fprintf(stderr, "%s: %s: %s\n", job->name, file, strerror(errno));
            code = NO_FILE;
        } else if (has_ending(file, sources)) {
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
    home h;
    char folder[1024];
    if (!find_home(&h, job->check)) {
        fprintf(stderr,
                "%s: the emulator's headers and library are not beside this program: install Gradus anew, or "
                "build the target gradus-simt\n",
                job->name);
        return NO_TOOL;
    }
    if (!gr__folder_open(folder, sizeof folder)) {
        fprintf(stderr, "%s: %s: %s\n", job->name, folder, strerror(errno));
        return NO_TOOL;
    }
    const int code = compile_in(job, &h, folder);
    gr__folder_drop(folder);
    return code;
}
