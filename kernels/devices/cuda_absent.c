/* cuda_absent.c - the device "cuda" of a build without CUDA: a message, and no rungs of the ladder. */
#include "kernels/cuda/ladder/ladder.h"
#include "kernels/ops/kernels.h"

#if !defined(GRADUS_WITH_CUDA)
static const char no_cuda[] =
    "this build has no CUDA; install nvcc and build again (cmake -DGRADUS_CUDA=ON tells what is "
    "missing), or take the device simt, which runs the same kernels on a CPU";

const gr_rung gr__cuda_ladder[] = {{0}};

gr_device *gr__cuda_device(const char *which, const char **why)
{
    (void)which;
    *why = no_cuda;
    return NULL;
}

bool gr_gpu(int i, gr_gpu_info *info, const char **why)
{
    (void)i, (void)info;
    if (why)
        *why = no_cuda;
    return false;
}
#endif
