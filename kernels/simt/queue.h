/*
 * queue.h - streams, events and graphs, with the names and the promises of CUDA's: work in one stream runs in order,
 * work in two streams in no order but that of events.
 *
 * Nothing runs when it is queued. It runs when somebody waits, in an order that the promises allow: the first stream
 * first, the last one first, or by chance (gr__simt_set_order). A missing event wait then shows in the result of some
 * orders, and the check build reports it in every order. A launch without a stream waits for all of them.
 */
#ifndef GRADUS_SIMT_QUEUE_H
#define GRADUS_SIMT_QUEUE_H

#include "kernels/simt/simt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gr__simt_stream gr__simt_stream;
typedef struct gr__simt_event gr__simt_event;
typedef struct gr__simt_graph gr__simt_graph;

/*
 * A stream of the calling OS thread, for GR_LAUNCH; at most 63. NULL: memory is out, or too many. Closing waits for it.
 */
gr__simt_stream *gr__simt_stream_open(void);
void gr__simt_stream_close(gr__simt_stream *s);

/* dst[bytes] = src[bytes], in the stream; read when it runs. */
void gr__simt_stream_copy(gr__simt_stream *s, void *dst, const void *src, size_t bytes);

/*
 * Between device and memory of the host that is not pinned, as CUDA has it: src is read before this returns, and with
 * to_host dst is written by then. While s is captured, as above.
 */
void gr__simt_stream_copy_paged(gr__simt_stream *s, void *dst, const void *src, size_t bytes, bool to_host);

/* dst[bytes] = value, and call(data) on the host, in the stream. */
void gr__simt_stream_fill(gr__simt_stream *s, void *dst, int value, size_t bytes);
void gr__simt_stream_call(gr__simt_stream *s, void (*call)(void *), void *data);

/* Whether all that was queued in the stream has been done; whether the event's work has. */
bool gr__simt_stream_done(const gr__simt_stream *s);
bool gr__simt_event_done(const gr__simt_event *e);

/* Runs what is in the stream, and of the others at least what it waits for. */
void gr__simt_stream_wait(gr__simt_stream *s);
void gr__simt_wait_for_all(void);

/*
 * A launch without a stream runs at once, where a GPU's would be under way: what the host may look at from now on, as
 * it waited. The check build finds it looking earlier, in programs of CUDA's runtime.
 */
void gr__simt_host_waited(void);

/* An event stands for the work queued in a stream when it was recorded there; before that, for nothing. */
gr__simt_event *gr__simt_event_open(void);
void gr__simt_event_close(gr__simt_event *e);
void gr__simt_event_record(gr__simt_event *e, gr__simt_stream *s);
void gr__simt_event_wait(gr__simt_event *e, gr__simt_stream *s); /* what is queued in s from now on waits */
void gr__simt_event_synchronize(gr__simt_event *e);              /* the host waits */
int64_t gr__simt_event_nanoseconds(const gr__simt_event *e);     /* when that work was done, by the host's clock */

/*
 * From begin to end, what is queued in s is written down instead; so is what is queued in a stream that waits for an
 * event recorded in the capture. The graph keeps launches with the argument values they had. A replay queues the whole
 * in s.
 */
void gr__simt_capture_begin(gr__simt_stream *s);
gr__simt_graph *gr__simt_capture_end(gr__simt_stream *s); /* NULL: memory is out, a fault */
void gr__simt_graph_launch(gr__simt_graph *g, gr__simt_stream *s);
void gr__simt_graph_close(gr__simt_graph *g);

#ifdef __cplusplus
}
#endif

#endif
