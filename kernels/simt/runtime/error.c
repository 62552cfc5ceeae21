/* error.c - errors by their names, and the last one. */
#include "kernels/simt/runtime/counters.h"

static struct {
    cudaError_t error;
    const char *file;
    int line;
    void *pc[GR__CALLERS]; /* where file is NULL: the calls under way */
    int callers;
    bool asked;
} last;

#define NAME(name, number, text) \
    case name:                   \
        return #name;
#define TEXT(name, number, text) \
    case name:                   \
        return text;

/* Who compares what a call returned has looked, and who has its words, wherever they come from. */
cudaError_t gr__cuda_looked_at(cudaError_t error)
{
    last.asked |= error == last.error;
    return error;
}

static const char *text_of(cudaError_t error)
{
    switch (error) {
        GR__CUDA_ERRORS(TEXT)
    }
    return "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t error)
{
    gr__cuda_looked_at(error);
    switch (error) {
        GR__CUDA_ERRORS(NAME)
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    gr__cuda_looked_at(error);
    return text_of(error);
}

cudaError_t gr__cuda_fails(cudaError_t error, const char *file, int line)
{
    if (error == cudaSuccess || error == cudaErrorNotReady)
        return error;
    last.error = error, last.file = file, last.line = line, last.asked = false;
    last.callers = file ? 0 : gr__cuda_callers(last.pc);
    return error;
}

void gr__cuda_asked(void)
{
    last.asked = true;
}

const char *gr__cuda_unread(const char **file, int *line)
{
    *file = last.file, *line = last.line;
    return last.error != cudaSuccess && !last.asked ? text_of(last.error) : NULL;
}

void gr__cuda_say_failed(void)
{
    gr__cuda_say_first(last.pc, last.callers);
}

cudaError_t cudaPeekAtLastError(void)
{
    const cudaError_t found = gr__cuda_look();
    gr__cuda_asked();
    return found ? found : last.error;
}

/* What a kernel did wrong stays; what was refused is forgotten once it has been told. */
cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = cudaPeekAtLastError();
    last.error = cudaSuccess;
    return error;
}
