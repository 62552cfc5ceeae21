/*
 * simt_device.c - the device "simt": the CUDA kernels, run on a CPU by the emulator in kernels/simt. It does with
 * streams, events, graphs and staging buffers what the device cuda does, so that these are tested too: work is queued,
 * and runs when the host waits.
 */
#include <stdlib.h>

#include "kernels/cuda/add_to.h"
#include "kernels/devices/staging.h"
#include "kernels/ops/kernels.h"
#include "kernels/simt/environment.h"
#include "kernels/simt/queue.h"
#include "kernels/simt/simt.h"

typedef struct {
    gr_device device; /* first: a gr_device * is a simt_device * */
    gr_staging staging;
    gr_stopwatch stopwatch;
    bool capturing;
} simt_device;

static simt_device *simt_of(gr_device *d)
{
    return (simt_device *)d;
}

/* --- streams as staging.h wants them ------------------------------------------------------------------------------ */

static void *event_open(void)
{
    return gr__simt_event_open();
}

static void event_close(void *event)
{
    gr__simt_event_close(event);
}

static bool event_record(void *event, void *stream)
{
    gr__simt_event_record(event, stream);
    return true;
}

static bool stream_wait(void *stream, void *event)
{
    gr__simt_event_wait(event, stream);
    return true;
}

static bool host_wait(void *event)
{
    gr__simt_event_synchronize(event);
    return !gr__simt_fault();
}

static bool stream_copy(void *dst, const void *src, size_t bytes, void *stream)
{
    gr__simt_stream_copy(stream, dst, src, bytes);
    return true;
}

const gr_stream_calls gr__simt_stream_calls = {event_open,  event_close, event_record, stream_wait,    host_wait,
                                               stream_copy, malloc,      free,         gr__simt_alloc, gr__simt_free};

static bool seconds_between(void *from, void *to, double *seconds)
{
    *seconds = 1e-9 * (double)(gr__simt_event_nanoseconds(to) - gr__simt_event_nanoseconds(from));
    return true;
}

static const gr_timed_events timed_events = {event_open, event_close, event_record, host_wait, seconds_between};

/* --- memory ------------------------------------------------------------------------------------------------------- */

static void *simt_alloc(gr_device *d, size_t bytes)
{
    (void)d;
    return gr__simt_alloc(bytes);
}

static void simt_free(gr_device *d, void *p, size_t bytes)
{
    (void)d, (void)bytes;
    gr__simt_free(p);
}

static bool simt_upload(gr_device *d, void *dst, const void *src, size_t bytes)
{
    return !simt_of(d)->capturing && gr__staging_upload(&simt_of(d)->staging, dst, src, bytes);
}

static bool simt_wait(gr_device *d)
{
    gr__simt_stream_wait(d->queue);
    return !gr__simt_fault();
}

static bool simt_download(gr_device *d, void *dst, const void *src, size_t bytes)
{
    if (simt_of(d)->capturing)
        return false;
    const int stretch = gr__stopwatch_begin(d->stopwatch, GR_STREAM_COMPUTE, d->queue);
    gr__simt_stream_copy(d->queue, dst, src, bytes);
    gr__stopwatch_end(d->stopwatch, stretch, d->queue);
    return simt_wait(d);
}

static bool simt_add(gr_device *d, void *dst, const void *src, int64_t count)
{
    gr__simt_add_to(dst, src, count, d->queue);
    return true;
}

static const char *simt_fault(gr_device *d)
{
    (void)d;
    return gr__simt_fault();
}

/* --- graphs ------------------------------------------------------------------------------------------------------- */

static bool simt_capture_begin(gr_device *d)
{
    gr__simt_capture_begin(d->queue);
    return simt_of(d)->capturing = !gr__simt_fault();
}

static void *simt_capture_end(gr_device *d)
{
    simt_of(d)->capturing = false;
    return gr__simt_capture_end(d->queue);
}

static bool simt_replay(gr_device *d, void *graph)
{
    gr__simt_graph_launch(graph, d->queue);
    return true;
}

static void simt_graph_close(gr_device *d, void *graph)
{
    (void)d;
    gr__simt_graph_close(graph);
}

/* --- counters and limits ------------------------------------------------------------------------------------------ */

static void simt_count_begin(gr_device *d)
{
    simt_wait(d);
    gr__simt_count_begin();
}

static gr_counters simt_count_end(gr_device *d)
{
    simt_wait(d);
    const gr__simt_counters c = gr__simt_count_end();
    return (gr_counters){.launches = (int64_t)c.launches,
                         .threads = (int64_t)c.threads,
                         .barriers = (int64_t)c.barriers,
                         .shared_requests = (int64_t)c.shared_requests,
                         .bank_conflicts = (int64_t)c.bank_conflicts,
                         .global_requests = (int64_t)c.global_requests,
                         .global_sectors = (int64_t)c.global_sectors,
                         .lanes = (int64_t)c.lanes};
}

/* The limits are those of the processor that emulates, with plain loops. */
static double arithmetic(const gr_exec *exec, void *result)
{
    gr__simt_touchable(true);
    const double flops = gr__ref_f32_probes.arithmetic(exec, result);
    gr__simt_touchable(false);
    return flops;
}

static void read_all(const gr_exec *exec, const void *src, size_t bytes, int times, void *result)
{
    gr__simt_touchable(true);
    gr__ref_f32_probes.read(exec, src, bytes, times, result);
    gr__simt_touchable(false);
}

static void copy_all(const gr_exec *exec, void *dst, const void *src, size_t bytes, int times)
{
    gr__simt_touchable(true);
    gr__ref_f32_probes.copy(exec, dst, src, bytes, times);
    gr__simt_touchable(false);
}

static const gr_probes probes = {arithmetic, read_all, copy_all, NULL};

/* --- opening ------------------------------------------------------------------------------------------------------ */

static void simt_close(gr_device *d)
{
    gr_staging *s = &simt_of(d)->staging;
    gr__simt_wait_for_all();
    gr__staging_close(s);
    gr__stopwatch_close(d->stopwatch);
    gr__simt_free(d->arrivals);
    gr__simt_stream_close(s->copies);
    gr__simt_stream_close(s->compute);
    gr__simt_clear_fault();
    free(d);
}

gr_device *gr__simt_device(const char **why)
{
    const gr__simt_wishes asked = gr__simt_environment(why);
    simt_device *simt = *why ? NULL : calloc(1, sizeof *simt);
    if (!simt)
        return NULL;
    gr_device *d = &simt->device;
    *d = (gr_device){.name = "simt",
                     .isa = "plain",
                     .real = GR_F32,
                     .tf32 = true,
                     .multiprocessors = asked.multiprocessors,
                     .arrivals = gr__simt_alloc(GR_ARRIVALS * sizeof(unsigned)),
                     .wgmma = asked.tensor_cores == 90,
                     .cast = &gr__ops[GR_OP_cast],
                     .kernels = gr__simt_kernels,
                     .probes = &probes,
                     .alloc = simt_alloc,
                     .free = simt_free,
                     .upload = simt_upload,
                     .download = simt_download,
                     .add_real = simt_add,
                     .wait = simt_wait,
                     .fault = simt_fault,
                     .close = simt_close,
                     .capture_begin = simt_capture_begin,
                     .capture_end = simt_capture_end,
                     .replay = simt_replay,
                     .graph_close = simt_graph_close};
    simt->staging = (gr_staging){.calls = &gr__simt_stream_calls,
                                 .compute = gr__simt_stream_open(),
                                 .copies = gr__simt_stream_open(),
                                 .stopwatch = &simt->stopwatch};
    d->queue = simt->staging.compute;
    simt->stopwatch = (gr_stopwatch){.events = &timed_events, .compute = d->queue};
    d->stopwatch = &simt->stopwatch;
    if (gr__simt_checks()) {
        d->count_begin = simt_count_begin;
        d->count_end = simt_count_end;
    }
    if (simt->staging.compute && simt->staging.copies && d->arrivals)
        return d;
    *why = d->arrivals ? "the emulator has no streams left: 63 at most, two to a context" : "out of memory";
    simt_close(d);
    return NULL;
}
