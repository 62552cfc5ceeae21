/* simt_device.c - the device "simt": the CUDA kernels, run on a CPU by the emulator in kernels/simt, which knows the memory. */
#include <stdlib.h>

#include "kernels/cuda/ladder/ladder.h"
#include "kernels/host_memory.h"
#include "kernels/kernels.h"
#include "kernels/simt/simt.h"

typedef struct {
    gr_device device; /* first: a gr_device * is a simt_device * */
    gr_device host;   /* whose memory it is */
} simt_device;

static gr_device *host_of(gr_device *d)
{
    return &((simt_device *)d)->host;
}

static void *simt_alloc(gr_device *d, size_t bytes)
{
    void *p = host_of(d)->alloc(host_of(d), bytes);
    if (p && gr__simt_register(p, bytes))
        return p;
    if (p)
        host_of(d)->free(host_of(d), p, bytes);
    return NULL;
}

static void simt_free(gr_device *d, void *p, size_t bytes)
{
    gr__simt_forget(p);
    host_of(d)->free(host_of(d), p, bytes);
}

static const char *simt_fault(gr_device *d)
{
    (void)d;
    return gr__simt_fault();
}

static void simt_count_begin(gr_device *d)
{
    (void)d;
    gr__simt_count_begin();
}

static gr_counters simt_count_end(gr_device *d)
{
    (void)d;
    const gr__simt_counters c = gr__simt_count_end();
    return (gr_counters){.launches = (int64_t)c.launches, .threads = (int64_t)c.threads, .barriers = (int64_t)c.barriers,
                         .shared_requests = (int64_t)c.shared_requests, .bank_conflicts = (int64_t)c.bank_conflicts,
                         .global_requests = (int64_t)c.global_requests, .global_sectors = (int64_t)c.global_sectors,
                         .lanes = (int64_t)c.lanes};
}

static void simt_close(gr_device *d)
{
    gr__simt_clear_fault();
    free(d);
}

gr_device *gr__simt_device(const char **why)
{
    simt_device *simt = calloc(1, sizeof *simt);
    *why = NULL;
    if (!simt)
        return NULL;
    gr_device *d = &simt->device;
    *d = (gr_device){.name = "simt", .isa = "plain", .real = GR_F32, .kernels = gr__simt_kernels, .probes = &gr__ref_f32_probes, .ladder = gr__simt_ladder,
                     .fault = simt_fault, .close = simt_close};
    gr__use_host_memory(d);
    gr__use_host_memory(&simt->host);
    d->alloc = simt_alloc;
    d->free = simt_free;
    if (gr__simt_checks()) {
        d->count_begin = simt_count_begin;
        d->count_end = simt_count_end;
    }
    return d;
}
