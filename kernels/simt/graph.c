/*
 * graph.c - captures and replays. A graph is the list of what was queued, in that order, with a stream and events of
 * its own for every one that took part beside the first; a replay queues the list again.
 */
#include <stdlib.h>

#include "kernels/simt/item.h"

typedef struct {
    gr__simt_item *item;
    int slot; /* 0: the stream of the replay */
} node;

typedef struct {
    const gr__simt_event *of; /* the caller's */
    gr__simt_event *own;
} event_pair;

struct gr__simt_graph {
    uint64_t number;
    node *nodes;
    event_pair *events;
    gr__simt_stream *stream[GR__SIMT_STREAMS]; /* from slot 1 */
    int node_count, event_count, slots;
};

uint64_t gr__simt_capture_number(const gr__simt_stream *s)
{
    return s->capture ? s->capture->number : 0;
}

/* The graph's own event for one of the caller's; NULL: memory is out. */
static gr__simt_event *own_event(gr__simt_graph *g, const gr__simt_event *e)
{
    for (int i = 0; i < g->event_count; i++)
        if (g->events[i].of == e)
            return g->events[i].own;
    event_pair *more = realloc(g->events, (size_t)(g->event_count + 1) * sizeof *more);
    gr__simt_event *own = gr__simt_event_open();
    if (more)
        g->events = more;
    if (!more || !own) {
        gr__simt_event_close(own);
        return NULL;
    }
    more[g->event_count++] = (event_pair){e, own};
    return own;
}

bool gr__simt_captured(gr__simt_stream *s, gr__simt_item *item)
{
    gr__simt_graph *g = s->capture;
    if (!g)
        return false;
    if (item->event)
        item->event = own_event(g, item->event);
    const bool event_missing = (item->kind == GR__SIMT_RECORD || item->kind == GR__SIMT_WAIT) && !item->event;
    node *more = event_missing ? NULL : realloc(g->nodes, (size_t)(g->node_count + 1) * sizeof *more);
    if (more) {
        g->nodes = more;
        more[g->node_count++] = (node){item, s->slot};
    } else {
        gr__simt_report(gr__simt_now, "out of memory: a graph");
        free(item);
    }
    return true;
}

void gr__simt_event_joins_capture(gr__simt_machine *m, const gr__simt_event *e, gr__simt_stream *s)
{
    for (int i = 1; i < GR__SIMT_STREAMS && e->capture && !s->capture; i++) {
        const gr__simt_stream *other = m->queue.stream[i];
        if (other && gr__simt_capture_number(other) == e->capture) {
            s->capture = other->capture;
            s->slot = ++s->capture->slots;
        }
    }
}

void gr__simt_capture_begin(gr__simt_stream *s)
{
    gr__simt_graph *g = calloc(1, sizeof *g);
    if (!g) {
        gr__simt_report(gr__simt_now, "out of memory: a graph");
        return;
    }
    g->number = ++gr__simt_now->queue.captures;
    s->capture = g;
    s->slot = 0;
}

gr__simt_graph *gr__simt_capture_end(gr__simt_stream *s)
{
    gr__simt_machine *m = gr__simt_now;
    gr__simt_graph *g = s->capture;
    for (int i = 1; i < GR__SIMT_STREAMS && g; i++)
        if (m->queue.stream[i] && m->queue.stream[i]->capture == g)
            m->queue.stream[i]->capture = NULL;
    for (int slot = 1; g && slot <= g->slots; slot++)
        g->stream[slot] = gr__simt_stream_open();
    for (int slot = 1; g && slot <= g->slots; slot++)
        if (!g->stream[slot]) {
            gr__simt_report(m, "out of memory: streams of a graph");
            gr__simt_graph_close(g);
            return NULL;
        }
    return g;
}

void gr__simt_graph_launch(gr__simt_graph *g, gr__simt_stream *s)
{
    for (int i = 0; i < g->node_count; i++) {
        const node *n = &g->nodes[i];
        gr__simt_stream *in = n->slot ? g->stream[n->slot] : s;
        if (n->item->kind == GR__SIMT_RECORD)
            gr__simt_event_record(n->item->event, in);
        else if (n->item->kind == GR__SIMT_WAIT)
            gr__simt_event_wait(n->item->event, in);
        else
            gr__simt_queue_item(in, n->item);
    }
}

void gr__simt_graph_close(gr__simt_graph *g)
{
    if (!g)
        return;
    gr__simt_wait_for_all();
    for (int slot = 1; slot <= g->slots; slot++)
        gr__simt_stream_close(g->stream[slot]);
    for (int i = 0; i < g->node_count; i++)
        free(g->nodes[i].item);
    for (int i = 0; i < g->event_count; i++)
        gr__simt_event_close(g->events[i].own);
    free(g->nodes);
    free(g->events);
    free(g);
}
