/* open.c - gr_open: the device that the options ask for. */
#include <string.h>

#include "core/context.h"
#include "core/precision.h"
#include "kernels/ops/kernels.h"

enum { MAX_THREADS = 1024 };

/* The GPU, if it can compute in the precision. */
static gr_device *open_cuda(const char *which, gr_precision precision, const char **why)
{
    gr_device *device = gr__cuda_device(which, why);
    if (device && precision == GR_PRECISION_BF16 && device->without_bf16)
        *why = "its tensor cores know no bf16, which begins with compute capability 8.0; use fp16 or fp32";
    else if (device && precision == GR_PRECISION_TF32 && !device->tf32)
        *why = "its tensor cores know no tf32, which begins with compute capability 8.0; use fp16 or fp32";
    else
        return device;
    device->close(device);
    return NULL;
}

static bool is_precision(gr_precision p)
{
    return p == GR_PRECISION_DEFAULT || (p >= GR_PRECISION_FP32 && p <= GR_PRECISION_BF16X6);
}

static bool is_in_pieces(gr_precision p)
{
    return p == GR_PRECISION_BF16X3 || p == GR_PRECISION_BF16X6;
}

/* The device cpu, if its kernels can compute in the precision. */
static gr_device *open_cpu(const gr_options *o, const char **why)
{
    gr_device *device = gr__cpu_device(o->threads, why);
    if (!device || !is_in_pieces(o->precision) || device->pieces)
        return device;
    *why = "bf16x3 and bf16x6 are for AMX's tiles, which this processor does not have or GRADUS_CPU leaves out; use "
           "fp32, or GRADUS_CPU=amx-emulated, which gives the same bits slowly";
    device->close(device);
    return NULL;
}

/* The device; NULL as in kernels.h. */
static gr_device *open_device(const gr_options *o, const char *name, const char **why)
{
    bool ref = !strcmp(name, "ref"), simt = !strcmp(name, "simt"),
         cuda = !strcmp(name, "cuda") || !strncmp(name, "cuda:", 5);
    *why = NULL;
    if (!ref && !simt && !cuda && strcmp(name, "cpu"))
        *why = "there is no such device; there are cpu (tuned), cuda (a GPU), simt (its kernels on a CPU) and ref "
               "(plain loops)";
    else if (!is_precision(o->precision))
        *why = "gr_options.precision is no gr_precision (GR_F32, GR_BF16 and the like are types of tensors); there are "
               "GR_PRECISION_FP32, GR_PRECISION_FP16, GR_PRECISION_BF16, on the devices cuda and simt "
               "GR_PRECISION_TF32, on the device cpu GR_PRECISION_BF16X3 and GR_PRECISION_BF16X6, and on the device "
               "ref GR_PRECISION_FP64";
    else if (!ref && o->precision == GR_PRECISION_FP64)
        *why = "it computes in fp32; for fp64 use the device ref";
    else if (!simt && !cuda && o->precision == GR_PRECISION_TF32)
        *why = "tf32 is for tensor cores, and it has none; use fp32, or the device cuda, or simt, which emulates them";
    else if ((ref || simt || cuda) && is_in_pieces(o->precision))
        *why = "bf16x3 and bf16x6 are for the device cpu and AMX's tiles; use fp32, or the device cpu";
    else if (o->allocator && (simt || cuda))
        *why = "gr_options.allocator lends the host's memory, and its kernels may run behind the host; use the device "
               "cpu or ref";
    else if (o->allocator && (!o->allocator->take || !o->allocator->give))
        *why = "gr_options.allocator lacks take or give";
    else if (o->threads < 0 || o->threads > MAX_THREADS)
        *why = "threads must be 0 (all that this process may use) to 1024";
    else if (o->memory_limit < 0)
        *why = "gr_options.memory_limit must be 0 (no limit) or a number of bytes";
    if (*why)
        return NULL;
    if (simt)
        return gr__simt_device(why);
    if (cuda)
        return open_cuda(name[4] == ':' ? name + 5 : NULL, o->precision, why);
    const bool wide = o->precision == GR_PRECISION_DEFAULT || o->precision == GR_PRECISION_FP64;
    return ref ? gr__ref_device(wide ? GR_F64 : GR_F32, why) : open_cpu(o, why);
}

gr_context *gr_open(const gr_options *options)
{
    gr_options o = options ? *options : (gr_options){0};
    const char *name = o.device ? o.device : "cpu", *why;
    o.device = NULL; /* the string is the caller's; gr_device_name tells it from now on */
    gr_device *device = open_device(&o, name, &why);
    gr_context *ctx = gr__context_open(&o, device, &gr__mixed_precision);
    if (ctx && !device)
        gr__fail(ctx, why ? GR_USAGE : GR_NO_MEMORY, "device %s: %s", name,
                 why ? why : "the host is out of memory or threads; close programs or ask for fewer threads");
    return ctx;
}
