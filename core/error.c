/* error.c - sticky errors: the first one stays, with what is needed to act on it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"

bool gr_ok(const gr_context *ctx)
{
    return ctx && ctx->code == GR_OK;
}

gr_code gr_error_code(const gr_context *ctx)
{
    return ctx ? ctx->code : GR_NO_MEMORY;
}

const char *gr_error_text(const gr_context *ctx)
{
    return ctx ? ctx->error : "out of memory: the host cannot hold a context";
}

bool gr__fail(gr_context *ctx, gr_code code, const char *format, ...)
{
    if (!gr_ok(ctx))
        return false;
    ctx->code = code;
    va_list args;
    va_start(args, format);
    vsnprintf(ctx->error, sizeof ctx->error, format, args);
    va_end(args);
    return false;
}

gr_code gr__io_code(int error)
{
    return error == ENOMEM ? GR_NO_MEMORY : GR_IO_ERROR;
}

bool gr__is_paths_fault(int error)
{
    static const int faults[] = {ENOENT, ENOTDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, ENXIO, ENODEV, EISDIR};
    bool its = false;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        its = its || error == faults[i];
    return its;
}

bool gr__device_failed(gr_context *ctx, const char *while_what)
{
    gr_device *d = ctx->device;
    const char *why = d->fault ? d->fault(d) : NULL;
    return gr__fail(ctx, GR_DEVICE_FAULT, "device %s: %s; found while %s", d->name, why ? why : "a call failed",
                    while_what);
}

void gr_clear_error(gr_context *ctx)
{
    if (!ctx || !ctx->device)
        return;
    gr__step_reset(ctx); /* while a dry run is still known as one */
    ctx->code = GR_OK;
    ctx->error[0] = '\0';
    ctx->module = "";
    ctx->planning = ctx->options.plan_only;
    ctx->state.inv_weight = 0;
    gr__state_write(ctx);
}

const char *gr__enter_module(gr_context *ctx, const char *name)
{
    const char *before = ctx->module;
    ctx->module = name;
    return before;
}

void *gr__calloc(gr_context *ctx, size_t count, size_t size)
{
    if (!gr_ok(ctx))
        return NULL;
    void *p = calloc(count, size);
    if (!p)
        gr__fail(ctx, GR_NO_MEMORY, "out of host memory: %zu x %zu bytes asked", count, size);
    return p;
}

bool gr__grow(gr_context *ctx, void *array, int *capacity, int need, size_t size)
{
    if (need <= *capacity)
        return true;
    int wanted = *capacity ? *capacity : 32;
    while (wanted < need)
        wanted *= 2;
    void *old; /* read and written as bytes: array is a pointer to a pointer of some type */
    memcpy(&old, array, sizeof old);
    void *grown = realloc(old, (size_t)wanted * size);
    if (!grown)
        return gr__fail(ctx, GR_NO_MEMORY, "out of host memory: %zu bytes asked", (size_t)wanted * size);
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}
