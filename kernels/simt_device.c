/* simt_device.c - the device "simt": the CUDA kernels, run on a CPU by the emulator in kernels/simt. */
#include <stdlib.h>

#include "kernels/host_memory.h"
#include "kernels/kernels.h"
#include "kernels/simt/simt.h"

static const char *simt_fault(gr_device *d)
{
    (void)d;
    return gr__simt_fault();
}

static void close_simt(gr_device *d)
{
    free(d);
}

gr_device *gr__simt_device(const char **why)
{
    gr_device *d = calloc(1, sizeof *d);
    *why = NULL;
    if (!d)
        return NULL;
    *d = (gr_device){.name = "simt", .isa = "plain", .real = GR_F32, .kernels = gr__simt_kernels, .probes = &gr__ref_f32_probes,
                     .fault = simt_fault, .close = close_simt};
    gr__use_host_memory(d);
    return d;
}
