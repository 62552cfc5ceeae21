/* gxx.c - see gxx.h. */
#include "kernels/simt/compiler/gxx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/simt/compiler/process.h"

static bool is_home(gr__home *h, const char *here, const char *headers, const char *library, bool check)
{
    char probe[GR__PATH_ROOM + 64];
    snprintf(h->headers, sizeof h->headers, "%s/%s", here, headers);
    snprintf(probe, sizeof probe, "%.4000s/kernels/simt/cuda/cuda_runtime.h", h->headers);
    snprintf(h->library, sizeof h->library, "%.3800s/%s/libgradus-simt%s.a", here, library, check ? "-check" : "");
    return !access(probe, R_OK) && !access(h->library, R_OK);
}

bool gr__home_find(gr__home *h, bool check)
{
    char here[GR__PATH_ROOM - 256];
    const ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    char *slash = n > 0 ? (here[n] = '\0', strrchr(here, '/')) : NULL;
    if (!slash)
        return false;
    *slash = '\0';
    return is_home(h, here, "../include/gradus-simt", "../" GRADUS_SIMT_LIBDIR, check) ||
           is_home(h, here, "simt/include", "simt", check);
}

const char *gr__gxx_name(void)
{
    const char *cxx = getenv("GRADUS_CXX");
    return cxx && *cxx ? cxx : "g++";
}

static int complain_of_compiler(const char *name)
{
    fprintf(stderr,
            "%s: there is no %s, which compiles CUDA C for the emulator: install it (Debian, Ubuntu: apt-get install "
            "g++) or name another one in GRADUS_CXX\n",
            name, gr__gxx_name());
    return GR__NO_TOOL;
}

/* Whether a line begins a message ("FILE:LINE: ...", "In file included from ..."), and not a quotation below one. */
static bool begins_message(const char *line)
{
    return *line != ' ' && *line != '\0';
}

static bool has(const char *line, size_t n, const char *word)
{
    return memmem(line, n, word, strlen(word)) != NULL;
}

static bool speaks_of_writers(const gr__home *h, const char *line)
{
    return strncmp(line, h->headers, strlen(h->headers)) && strncmp(line, "In file included", 16) &&
           strncmp(line, "cc1plus:", 8);
}

/*
 * Passes on what speaks of the writer's files, with the error in ours that one of theirs led to by a template; or all
 * of it. Returns whether anything is said, beyond where it is: the first time it only looks.
 */
static bool pass_on(const gr__home *h, const char *text, size_t length, bool all, FILE *to)
{
    bool shown = false, led = false, says = length == 0;
    for (const char *line = text; line < text + length;) {
        const char *end = memchr(line, '\n', (size_t)(text + length - line));
        const size_t n = end ? (size_t)(end - line) : (size_t)(text + length - line);
        if (begins_message(line)) {
            const bool leads = has(line, n, "   required from "), theirs = speaks_of_writers(h, line);
            shown = all || theirs || (led && has(line, n, " error: "));
            led = leads ? theirs : led && !shown;
            says |= shown && !leads && line[n - 1] != ':';
        }
        if (shown && to)
            fprintf(to, "%.*s\n", (int)n, line);
        line += n + 1;
    }
    return says;
}

/* Whether g++ quotes a name that begins so ("tex2D*"), or that is so. It quotes as the locale has it. */
static bool quotes(const char *said, const char *name)
{
    const size_t n = strcspn(name, "*");
    for (const char *p = said; (p = strpbrk(p, "'\xe2")); p++) {
        const char *const word = *p == '\'' ? p + 1 : strncmp(p, "\xe2\x80\x98", 3) ? NULL : p + 3;
        if (word && !strncmp(word, name, n) && (name[n] || word[n] == '\'' || word[n] == '\xe2'))
            return true;
    }
    return false;
}

/* Parts of CUDA that learners meet in books and that are not here, by the names that g++ has not heard of. */
static void explain_names(const char *name, const char *said)
{
    static const struct {
        const char *const names[16], *meaning;
    } parts[] = {
        {{"texture", "surface", "textureReference", "cudaBindTexture*", "cudaUnbindTexture*", "cudaBindSurface*"},
         "CUDA has given up textures that are variables: a cudaTextureObject_t, which cudaCreateTextureObject makes, "
         "is a parameter of the kernel"},
        {{"tex1DLod*", "tex2DLod*", "tex3DLod*", "tex1DGrad*", "tex2DGrad*", "tex3DGrad*", "tex2Dgather*",
          "texCubemap*", "surfCubemap*", "surf2DLayered*", "cudaMallocMipmappedArray", "cudaMipmapped*",
          "cudaGetMipmapped*", "cudaArrayCubemap", "cudaArrayTextureGather"},
         "the emulator's textures have no mipmaps, cube maps and gathers, its surfaces no layers"},
        {{"pipeline_shared_state*", "pipeline_role*", "make_pipeline*", "pipeline_producer_commit"},
         "the emulator's cuda::pipeline is that of one thread, by cuda::make_pipeline()"},
        {{"curandStateMRG32k3a*", "curandStateMtgp32*", "curandStateSobol*", "curandStateScrambled*", "curand_poisson*",
          "curand_discrete*", "curandGeneratePoisson", "curandGenerateLongLong", "curandSetQuasi*",
          "curandDirectionVectors*", "curandGetDirectionVectors*", "CURAND_RNG_*"},
         "the emulator has of cuRAND the generator XORWOW, the default, and in kernels Philox4x32-10, with uniform, "
         "normal and log-normal numbers"},
        {{"cudaLaunchCooperativeKernelMultiDevice"}, "the emulator has one device: cudaLaunchCooperativeKernel"},
        {{"cuInit", "cuDevice*", "cuCtx*", "cuModule*", "cuLaunchKernel*", "cuMem*", "CUdevice*", "CUcontext*",
          "CUmodule*", "CUfunction*", "CUresult*"},
         "the emulator has CUDA's runtime (cudaMalloc, ...), not the driver's API (cuMemAlloc, ...)"},
        {{"__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__ballot", "__any", "__all"},
         "CUDA has given up warp functions without a mask: __shfl_sync(0xffffffff, ...) and the like"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (const char *const *one = parts[i].names; *one; one++)
            if (quotes(said, *one)) {
                fprintf(stderr, "%s: %s\n", name, parts[i].meaning);
                break;
            }
}

/* What is said of that takes knowing CUDA, or how a program begins. */
static void explain(const char *name, const char *said)
{
    if (strstr(said, "undefined reference to `main'"))
        fprintf(stderr, "%s: there is no function main, with which a program begins: int main() { ... }\n", name);
    if (strstr(said, "gr__constant_size_of_"))
        fprintf(stderr,
                "%s: the size of a __shared__ array is a constant; one that the launch says is extern __shared__ float "
                "s[]; and the third argument of <<<grid, block, BYTES>>>\n",
                name);
    if (strstr(said, "Assembler messages:"))
        fprintf(stderr, "%s: the emulator has no inline PTX; what asm() holds goes to this processor's assembler\n",
                name);
    explain_names(name, said);
}

int gr__gxx_run(const char *name, const gr__home *h, gr__words *command, char **out, size_t *length)
{
    char *said = NULL;
    size_t said_length = 0;
    const int code = gr__process(command->word, out, length, &said, &said_length);
    if (said)
        pass_on(h, said, said_length, !pass_on(h, said, said_length, false, NULL), stderr);
    if (said && code)
        explain(name, said);
    free(said);
    gr__words_free(command);
    if (code == GR__NO_PROGRAM)
        return complain_of_compiler(name);
    return code ? GR__BAD_SOURCE : 0;
}
