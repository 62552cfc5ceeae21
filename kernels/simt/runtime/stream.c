/* stream.c - streams, events, graphs and launches, as CUDA names them, over queue.h. */
#include <stdlib.h>
#include <time.h>

#include "kernels/simt/runtime/runtime.h"

struct gr__cuda_event {
    gr__simt_event *event; /* recorded behind the call that reads the clock */
    double when;           /* milliseconds */
    bool recorded, now;    /* now: recorded without a stream, done at once */
};

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

void gr__cuda_wait_all(void)
{
    gr__simt_wait_for_all();
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    gr__cuda_start();
    *stream = gr__simt_stream_open();
    return *stream ? cudaSuccess : gr__cuda_fails(cudaErrorMemoryAllocation, NULL, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    gr__simt_stream_close(stream);
    return gr__cuda_look();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (stream)
        gr__simt_stream_wait(stream);
    else
        gr__simt_wait_for_all();
    gr__simt_host_waited();
    gr__cuda_asked();
    return gr__cuda_look();
}

/* Nothing runs until somebody waits: who asks again and again does. */
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return cudaStreamSynchronize(stream);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    if (stream) {
        gr__simt_stream_call(stream, function, data);
    } else {
        gr__simt_host_waited(); /* it comes after what was launched before */
        function(data);
    }
    return cudaSuccess;
}

typedef struct {
    cudaStream_t stream;
    cudaStreamCallback_t function;
    void *data;
} callback;

static void call_back(void *data)
{
    const callback c = *(callback *)data;
    free(data);
    c.function(c.stream, gr__simt_fault() ? cudaErrorLaunchFailure : cudaSuccess, c.data);
}

cudaError_t gr__cuda_callback(cudaStream_t stream, cudaStreamCallback_t function, void *data)
{
    callback *c = malloc(sizeof *c);
    if (!c)
        return gr__cuda_fails(cudaErrorMemoryAllocation, NULL, 0);
    *c = (callback){stream, function, data};
    return cudaLaunchHostFunc(stream, call_back, c);
}

/* --- events ------------------------------------------------------------------------------------------------------- */

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    gr__cuda_start();
    *event = calloc(1, sizeof **event);
    if (*event)
        (*event)->event = gr__simt_event_open();
    return *event && (*event)->event ? cudaSuccess : gr__cuda_fails(cudaErrorMemoryAllocation, NULL, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    gr__simt_wait_for_all();
    gr__simt_event_close(event->event);
    free(event);
    return cudaSuccess;
}

static void read_clock(void *event)
{
    ((cudaEvent_t)event)->when = milliseconds();
}

cudaError_t gr__cuda_record(cudaEvent_t event, cudaStream_t stream)
{
    event->recorded = true;
    event->now = !stream;
    if (stream) {
        gr__simt_stream_call(stream, read_clock, event);
        gr__simt_event_record(event->event, stream);
    } else {
        gr__simt_wait_for_all();
        read_clock(event);
    }
    return gr__cuda_look();
}

cudaError_t gr__cuda_wait_event(cudaStream_t stream, cudaEvent_t event)
{
    if (!event->now && stream)
        gr__simt_event_wait(event->event, stream);
    else if (!event->now)
        gr__simt_event_synchronize(event->event);
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (!event->now)
        gr__simt_event_synchronize(event->event);
    gr__simt_host_waited();
    gr__cuda_asked();
    return gr__cuda_look();
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return cudaEventSynchronize(event);
}

cudaError_t cudaEventElapsedTime(float *time, cudaEvent_t start, cudaEvent_t end)
{
    if (!start->recorded || !end->recorded)
        return gr__cuda_fails(cudaErrorInvalidResourceHandle, NULL, 0);
    if ((!start->now && !gr__simt_event_done(start->event)) || (!end->now && !gr__simt_event_done(end->event)))
        return cudaErrorNotReady;
    *time = (float)(end->when - start->when);
    return cudaSuccess;
}

/* --- graphs ------------------------------------------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    (void)mode;
    if (!stream)
        return gr__cuda_fails(cudaErrorStreamCaptureUnsupported, NULL, 0);
    gr__simt_capture_begin(stream);
    return gr__cuda_look();
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = gr__simt_capture_end(stream);
    return gr__cuda_look();
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
    if (!stream)
        return gr__cuda_fails(cudaErrorStreamCaptureUnsupported, NULL, 0);
    gr__simt_graph_launch(graph, stream);
    return gr__cuda_look();
}

/* A graph and what is made of it are one here: the second goes. */
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    (void)graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    gr__simt_graph_close(graph);
    return cudaSuccess;
}

/* --- launches ----------------------------------------------------------------------------------------------------- */

cudaError_t gr__cuda_allow_shared(const void *function, int bytes, const char *file, int line)
{
    gr__cuda_start();
    gr__simt_allow_shared(function, bytes, file, line);
    gr__simt_allow_shared(NULL, bytes, file, line); /* a template's launch does not know its function */
    return gr__cuda_look();
}

void gr__cuda_launch(const gr__simt_config *config)
{
    gr__cuda_start();
    if (gr__cuda_look())
        return;
    gr__simt_launch(config);
    gr__cuda_look();
}
