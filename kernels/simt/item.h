/*
 * item.h - what waits in a stream or is written down in a graph; shared by queue.c and graph.c.
 */
#ifndef GRADUS_SIMT_ITEM_H
#define GRADUS_SIMT_ITEM_H

#include "kernels/simt/machine.h"
#include "kernels/simt/queue.h"

typedef enum {
    GR__SIMT_LAUNCH,
    GR__SIMT_COPY,
    GR__SIMT_FILL,
    GR__SIMT_CALL,
    GR__SIMT_RECORD,
    GR__SIMT_WAIT
} gr__simt_item_kind;

typedef struct gr__simt_item {
    struct gr__simt_item *next;
    gr__simt_item_kind kind;
    gr__simt_config launch; /* its arguments lie behind the item */
    void *dst;
    const void *src;
    size_t bytes;
    bool kept;            /* of a copy: what src has now is what comes, and lies behind the item */
    bool met;             /* of a copy: the host did not wait for it, which was told */
    int value;            /* of a fill */
    void (*call)(void *); /* with dst */
    gr__simt_event *event;
    uint64_t ticket;      /* of the event: which of its recordings */
    gr__simt_time queued; /* what the host had waited for when it queued this */
} gr__simt_item;

struct gr__simt_stream {
    int number; /* 1 to GR__SIMT_STREAMS - 1 */
    gr__simt_item *first, *last;
    gr__simt_time known;
    gr__simt_graph *capture; /* NULL: none under way */
    int slot;                /* as which of the graph's streams */
};

struct gr__simt_event {
    uint64_t recorded, done; /* tickets given and served */
    gr__simt_time time;
    int64_t nanoseconds; /* when the last one was served */
    uint64_t capture;    /* number of the capture that recorded it last */
};

/* graph.c: takes the item when the stream is being captured. */
bool gr__simt_captured(gr__simt_stream *s, gr__simt_item *item);
void gr__simt_event_joins_capture(gr__simt_machine *m, const gr__simt_event *e, gr__simt_stream *s);
uint64_t gr__simt_capture_number(const gr__simt_stream *s); /* 0: none */

/* queue.c. Whether an access of the host meets a copy that still waits in a stream; of each copy once. */
bool gr__simt_meets_copy(gr__simt_machine *m, const char *p, size_t bytes, bool write);
void gr__simt_queue_item(gr__simt_stream *s, const gr__simt_item *item);

#endif
