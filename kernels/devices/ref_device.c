/* ref_device.c - the device "ref": the textbook's loops on one thread, in double or float. */
#include <stdlib.h>

#include "kernels/devices/host_memory.h"
#include "kernels/ops/kernels.h"

static void close_ref(gr_device *d)
{
    free(d);
}

gr_device *gr__ref_device(gr_type real, const char **why)
{
    gr_device *d = calloc(1, sizeof *d);
    *why = NULL;
    if (!d)
        return NULL;
    *d = (gr_device){.name = "ref",
                     .isa = "plain",
                     .real = real,
                     .close = close_ref,
                     .probes = real == GR_F64 ? &gr__ref_f64_probes : &gr__ref_f32_probes,
                     .cast = &gr__ops[GR_OP_cast],
                     .kernels = real == GR_F64 ? gr__ref_f64_kernels : gr__ref_f32_kernels};
    gr__use_host_memory(d);
    d->reads_host = true;
    return d;
}
