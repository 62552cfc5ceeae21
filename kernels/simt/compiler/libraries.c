/* libraries.c - see libraries.h. */
#include "kernels/simt/compiler/libraries.h"

#include <stdio.h>
#include <string.h>

/* Libraries that learners meet in books and that are not here, by how their headers begin. */
static const char *library_of(const char *header)
{
    static const char *const missing[][2] = {
        {"thrust/", "Thrust"},
        {"cub/", "CUB"},
        {"cublas", "cuBLAS"},
        {"curand", "the rest of cuRAND"},
        {"cufft", "cuFFT"},
        {"cusparse", "cuSPARSE"},
        {"cusolver", "cuSOLVER"},
        {"nvrtc", "NVRTC"},
        {"cutlass/", "CUTLASS"},
        {"cuda/", "the rest of libcu++"},
        {"cuda_bf16", "bf16"},
        {"cuda_fp8", "fp8"},
        {"cuda_gl_interop", "OpenGL"},
        {"cudnn", "cuDNN"},
        {"npp", "NPP"},
        {"nvtx3/", "the rest of NVTX"},
    };
    static const char *const here[] = {"cuda/barrier",    "cuda/pipeline",      "curand.h",
                                       "curand_kernel.h", "nvtx3/nvToolsExt.h", "nvtx3/nvToolsExtCudaRt.h"};
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        if (!strcmp(header, here[i]))
            return NULL;
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (!strncmp(header, missing[i][0], strlen(missing[i][0])))
            return missing[i][1];
    return NULL;
}

bool gr__asks_for_libraries(const char *file)
{
    char line[1024], header[512];
    FILE *f = fopen(file, "r");
    bool found = false;
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
    return found;
}
