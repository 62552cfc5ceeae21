/*
 * queues.cu - streams that do not wait for each other, a host that does not wait for a stream, graphs that outlive a
 * buffer.
 */
#include <stdlib.h>

#include "kernels/cuda/gpu.h"
#include "kernels/simt/queue.h"
#include "tests/simt/planted.h"

BEGINS(missing_event_wait)
/* y[n] = 2 x[n] */
template <bool right> static __global__ void missing_event_wait(float *y, const float *x)
{
    y[threadIdx.x] = 2 * x[threadIdx.x];
}
ENDS(missing_event_wait)

/* z = 2 y in one stream after y = 2 x in another. */
static bool run_missing_event_wait(bool right)
{
    float *x = floats(32), *y = floats(32), *z = floats(32);
    gr__simt_stream *a = gr__simt_stream_open(), *b = gr__simt_stream_open();
    gr__simt_event *done = gr__simt_event_open();
    GR_LAUNCH((missing_event_wait<false>), 1, 32, 0, a, y, x);
    gr__simt_event_record(done, a);
    if (right)
        gr__simt_event_wait(done, b);
    GR_LAUNCH((missing_event_wait<false>), 1, 32, 0, b, z, y);
    gr__simt_wait_for_all();
    const bool result = z[31] == 4 * 31;
    gr__simt_event_close(done);
    gr__simt_stream_close(a);
    gr__simt_stream_close(b);
    return result;
}

BEGINS(event_too_early)
/* x[n] += 1 */
template <bool right> static __global__ void event_too_early(float *x)
{
    x[threadIdx.x] += 1;
}
ENDS(event_too_early)

/*
 * A batch is uploaded in one stream and used in another; the event must stand behind the last use of the buffer before.
 */
static bool run_event_too_early(bool right)
{
    float *x = floats(32), *next = floats(32), *kept = floats(32);
    gr__simt_stream *upload = gr__simt_stream_open(), *work = gr__simt_stream_open();
    gr__simt_event *used = gr__simt_event_open();
    if (!right)
        gr__simt_event_record(used, work);
    GR_LAUNCH((event_too_early<false>), 1, 32, 0, work, x);
    gr__simt_stream_copy(work, kept, x, 32 * sizeof *x);
    if (right)
        gr__simt_event_record(used, work);
    gr__simt_event_wait(used, upload);
    gr__simt_stream_copy(upload, x, next, 32 * sizeof *x);
    gr__simt_wait_for_all();
    const bool result = kept[31] == 32 && x[31] == 31;
    gr__simt_event_close(used);
    gr__simt_stream_close(upload);
    gr__simt_stream_close(work);
    return result;
}

BEGINS(host_too_early)
template <bool right> static __global__ void host_too_early(float *x)
{
    x[threadIdx.x] += 100;
}
ENDS(host_too_early)

static bool run_host_too_early(bool right)
{
    float *x = floats(32);
    gr__simt_stream *s = gr__simt_stream_open();
    GR_LAUNCH((host_too_early<true>), 1, 32, 0, s, x);
    if (right)
        gr__simt_stream_wait(s);
    const bool result = x[31] == 131;
    gr__simt_stream_close(s);
    return result;
}

BEGINS(stale_graph)
template <bool right> static __global__ void stale_graph(float *y, const float *x)
{
    y[threadIdx.x] = x[threadIdx.x] + 1;
}
ENDS(stale_graph)

/* A graph keeps the addresses it was captured with: when a buffer moves, it must be captured again. */
static bool run_stale_graph(bool right)
{
    float *x = floats(64), *old = floats(64), *y = old;
    gr__simt_stream *s = gr__simt_stream_open();
    gr__simt_graph *g = NULL;
    for (int step = 0; step < 2; step++) {
        if (step == 1) {
            y = floats(64);
            gr__simt_forget(old);
            free(old);
        }
        if (step == 0 || right) {
            gr__simt_graph_close(g);
            gr__simt_capture_begin(s);
            GR_LAUNCH((stale_graph<false>), 1, 64, 0, s, y, x);
            g = gr__simt_capture_end(s);
        }
        gr__simt_graph_launch(g, s);
        gr__simt_stream_wait(s);
    }
    const bool result = y[63] == 64;
    gr__simt_graph_close(g);
    gr__simt_stream_close(s);
    return result;
}

BEGINS(graph_not_joined)
template <bool right> static __global__ void graph_not_joined(float *y, const float *x)
{
    y[threadIdx.x] = x[threadIdx.x] + 1;
}
ENDS(graph_not_joined)

/* In a graph that forks into a second stream, the end must wait for the fork. Replayed twice. */
static bool run_graph_not_joined(bool right)
{
    float *x = floats(32), *y = floats(32), *z = floats(32);
    gr__simt_stream *a = gr__simt_stream_open(), *b = gr__simt_stream_open();
    gr__simt_event *fork = gr__simt_event_open(), *joined = gr__simt_event_open();
    gr__simt_capture_begin(a);
    GR_LAUNCH((graph_not_joined<false>), 1, 32, 0, a, x, x);
    gr__simt_event_record(fork, a);
    gr__simt_event_wait(fork, b);
    GR_LAUNCH((graph_not_joined<false>), 1, 32, 0, b, y, x);
    gr__simt_event_record(joined, b);
    if (right)
        gr__simt_event_wait(joined, a);
    GR_LAUNCH((graph_not_joined<false>), 1, 32, 0, a, z, y);
    gr__simt_graph *g = gr__simt_capture_end(a);
    gr__simt_graph_launch(g, a);
    gr__simt_graph_launch(g, a);
    gr__simt_wait_for_all();
    const bool result = x[31] == 33 && z[31] == 35;
    gr__simt_graph_close(g);
    gr__simt_event_close(fork);
    gr__simt_event_close(joined);
    gr__simt_stream_close(a);
    gr__simt_stream_close(b);
    return result;
}

template <bool right> static __global__ void host_touches(float *x)
{
    x[threadIdx.x] += 100;
}

/* Device memory is not the host's, not even when nothing runs. */
BEGINS(host_touches)
static bool run_host_touches(bool right)
{
    float *x = (float *)gr__simt_alloc(32 * sizeof(float)), five = 5, y = 0;
    gr__simt_stream *s = gr__simt_stream_open();
    gr__simt_stream_copy(s, x + 3, &five, sizeof five);
    GR_LAUNCH((host_touches<true>), 1, 32, 0, s, x);
    if (right)
        gr__simt_stream_copy(s, &y, x + 3, sizeof y);
    gr__simt_stream_wait(s);
    if (!right)
        y = x[3];
    gr__simt_stream_close(s);
    gr__simt_free(x);
    return y == 105;
}
ENDS(host_touches)

const planted of_queues[] = {
    PLANT(missing_event_wait, IN_CHECK | BY_CHANCE, "race: "),
    PLANT(event_too_early, IN_CHECK | BY_CHANCE, "race: "),
    PLANT(host_too_early, IN_RESULT, ""),
    PLANT(stale_graph, IN_CHECK | BY_ASAN | IN_RESULT, "out of bounds: write of 4 bytes"),
    PLANT(graph_not_joined, IN_CHECK | BY_CHANCE, "race: "),
    PLANT(host_touches, BY_ASAN | IN_RESULT, ""),
    NO_MORE,
};
