/* simt_absent.c - the device "simt" of a build without it (GRADUS_SIMT=OFF): a message, and no rungs of the ladder. */
#include "kernels/cuda/ladder/ladder.h"
#include "kernels/ops/kernels.h"

const gr_rung gr__simt_ladder[] = {{0}};

gr_device *gr__simt_device(const char **why)
{
    *why = "this build has no device simt (it was made with -DGRADUS_SIMT=OFF); build again with -DGRADUS_SIMT=ON, or "
           "take the device cpu";
    return NULL;
}
