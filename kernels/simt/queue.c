/* queue.c - streams and events. See queue.h for what they promise; everything else is left to the order. */
#include "kernels/simt/queue.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/simt/item.h"

static void join(gr__simt_time *a, const gr__simt_time *b)
{
    for (int i = 0; i < GR__SIMT_STREAMS; i++)
        a->at[i] = a->at[i] > b->at[i] ? a->at[i] : b->at[i];
}

gr__simt_stream *gr__simt_stream_open(void)
{
    gr__simt_machine *m = gr__simt_here();
    gr__simt_stream *s = calloc(1, sizeof *s);
    for (int i = 1; m && s && i < GR__SIMT_STREAMS; i++) {
        if (m->queue.stream[i])
            continue;
        s->number = i;
        s->known = m->queue.host;
        return m->queue.stream[i] = s;
    }
    free(s);
    return NULL;
}

void gr__simt_stream_close(gr__simt_stream *s)
{
    if (!s)
        return;
    gr__simt_stream_wait(s);
    gr__simt_now->queue.stream[s->number] = NULL;
    free(s);
}

gr__simt_event *gr__simt_event_open(void)
{
    return calloc(1, sizeof(gr__simt_event));
}

void gr__simt_event_close(gr__simt_event *e)
{
    free(e);
}

int64_t gr__simt_event_nanoseconds(const gr__simt_event *e)
{
    return e->nanoseconds;
}

/* --- into a stream ------------------------------------------------------------------------------------------------ */

static bool is_at_host(const gr__simt_item *i)
{
    return i->kind == GR__SIMT_COPY && !i->kept;
}

void gr__simt_queue_item(gr__simt_stream *s, const gr__simt_item *item)
{
    gr__simt_machine *m = gr__simt_now;
    const size_t behind = item->kind == GR__SIMT_LAUNCH ? item->launch.arguments_bytes : item->kept ? item->bytes : 0;
    gr__simt_item *i = malloc(sizeof *i + behind);
    if (!i) {
        gr__simt_report(m, "out of memory: work in a stream");
        return;
    }
    *i = *item;
    i->next = NULL;
    i->queued = m->queue.host;
    if (item->kept)
        i->src = memcpy(i + 1, item->src, behind);
    else if (behind)
        i->launch.arguments = memcpy(i + 1, item->launch.arguments, behind);
    if (gr__simt_captured(s, i))
        return;
    m->queue.copies += is_at_host(i);
    if (s->last)
        s->last->next = i;
    else
        s->first = i;
    s->last = i;
}

void gr__simt_stream_copy(gr__simt_stream *s, void *dst, const void *src, size_t bytes)
{
    gr__simt_queue_item(s, &(gr__simt_item){.kind = GR__SIMT_COPY, .dst = dst, .src = src, .bytes = bytes});
}

void gr__simt_stream_copy_paged(gr__simt_stream *s, void *dst, const void *src, size_t bytes, bool to_host)
{
    gr__simt_item copy = {.kind = GR__SIMT_COPY, .dst = dst, .src = src, .bytes = bytes};
    copy.kept = !to_host && !s->capture;
    gr__simt_queue_item(s, &copy);
    if (to_host && !s->capture)
        gr__simt_stream_wait(s);
}

void gr__simt_stream_fill(gr__simt_stream *s, void *dst, int value, size_t bytes)
{
    gr__simt_queue_item(s, &(gr__simt_item){.kind = GR__SIMT_FILL, .dst = dst, .value = value, .bytes = bytes});
}

void gr__simt_stream_call(gr__simt_stream *s, void (*call)(void *), void *data)
{
    gr__simt_queue_item(s, &(gr__simt_item){.kind = GR__SIMT_CALL, .call = call, .dst = data});
}

bool gr__simt_stream_done(const gr__simt_stream *s)
{
    return !s->first;
}

bool gr__simt_event_done(const gr__simt_event *e)
{
    return e->done >= e->recorded;
}

void gr__simt_event_record(gr__simt_event *e, gr__simt_stream *s)
{
    e->capture = gr__simt_capture_number(s);
    gr__simt_queue_item(s, &(gr__simt_item){.kind = GR__SIMT_RECORD, .event = e, .ticket = ++e->recorded});
}

void gr__simt_event_wait(gr__simt_event *e, gr__simt_stream *s)
{
    gr__simt_event_joins_capture(gr__simt_now, e, s);
    gr__simt_queue_item(s, &(gr__simt_item){.kind = GR__SIMT_WAIT, .event = e, .ticket = e->recorded});
}

/* --- out of a stream ---------------------------------------------------------------------------------------------- */

static bool can_run(const gr__simt_stream *s)
{
    return s && s->first && (s->first->kind != GR__SIMT_WAIT || s->first->event->done >= s->first->ticket);
}

/* A stream whose first item can run. There is one while any stream is not empty: the item that was queued first. */
static gr__simt_stream *choose(gr__simt_machine *m)
{
    const int n = GR__SIMT_STREAMS, first = m->order == GR__SIMT_RANDOM ? (int)(gr__simt_random(m) % (unsigned)n) : 0;
    for (int i = 0; i < n; i++) {
        gr__simt_stream *s = m->queue.stream[m->order == GR__SIMT_REVERSE ? n - 1 - i : (first + i) % n];
        if (can_run(s))
            return s;
    }
    return NULL;
}

/* The work of item is next: it comes after what its stream knows of. */
static void advance(gr__simt_machine *m, gr__simt_stream *s)
{
    s->known.at[s->number]++;
    m->queue.now = s->known;
    m->queue.running = s->number;
}

void gr__simt_time_goes_on(gr__simt_machine *m)
{
    if (m->queue.running) {
        advance(m, m->queue.stream[m->queue.running]);
    } else {
        m->queue.host.at[0]++;
        m->queue.now = m->queue.host;
    }
}

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void run_item(gr__simt_machine *m, gr__simt_stream *s, gr__simt_item *i)
{
    const uint32_t copies = m->queue.copies -= is_at_host(i);
    join(&s->known, &i->queued);
    switch (i->kind) {
    case GR__SIMT_LAUNCH:
        advance(m, s);
        gr__simt_run_launch(m, &i->launch);
        break;
    case GR__SIMT_COPY:
        advance(m, s);
        gr__simt_touch_in_stream(m, i->src, i->bytes, false);
        gr__simt_touch_in_stream(m, i->dst, i->bytes, true);
        if (!m->fault[0])
            memcpy(i->dst, i->src, i->bytes);
        break;
    case GR__SIMT_FILL:
        advance(m, s);
        gr__simt_touch_in_stream(m, i->dst, i->bytes, true);
        if (!m->fault[0])
            memset(i->dst, i->value, i->bytes);
        break;
    case GR__SIMT_CALL:
        gr__simt_touchable(false);
        gr__simt_host_waited(); /* it comes after what was launched before, and before the copies behind it */
        m->queue.copies = 0;
        i->call(i->dst);
        m->queue.copies += copies;
        gr__simt_touchable(true);
        break;
    case GR__SIMT_RECORD:
        i->event->done = i->ticket;
        i->event->time = s->known;
        i->event->nanoseconds = nanoseconds();
        break;
    case GR__SIMT_WAIT:
        join(&s->known, &i->event->time);
    }
}

/* Takes one item from some stream and runs it. False: all streams are empty. */
static bool step(gr__simt_machine *m)
{
    gr__simt_stream *s = choose(m);
    if (!s)
        return false;
    gr__simt_item *i = s->first;
    s->first = i->next;
    if (!s->first)
        s->last = NULL;
    run_item(m, s, i);
    free(i);
    return true;
}

static bool overlap(const char *a, size_t n, const char *b, size_t bytes)
{
    return a < b + bytes && b < a + n;
}

bool gr__simt_meets_copy(gr__simt_machine *m, const char *p, size_t bytes, bool write)
{
    for (int s = 1; s < GR__SIMT_STREAMS && m->queue.copies; s++)
        for (gr__simt_item *i = m->queue.stream[s] ? m->queue.stream[s]->first : NULL; i; i = i->next)
            if (is_at_host(i) && !i->met &&
                (overlap(p, bytes, i->dst, i->bytes) || (write && overlap(p, bytes, i->src, i->bytes))))
                return i->met = true;
    return false;
}

static void start_chance(gr__simt_machine *m)
{
    m->random = (m->seed + 1) * 0x9E3779B97F4A7C15 ^ (++m->queue.waits * 0xD1B54A32D192ED03);
}

/* Runs what is in the streams until one of them, an event, or (both NULL) all of them are done. */
static void run_until(gr__simt_machine *m, const gr__simt_stream *s, const gr__simt_event *e)
{
    start_chance(m);
    gr__simt_touchable(true);
    while ((s ? s->first != NULL : e ? e->done < e->recorded : true) && step(m))
        ;
    gr__simt_touchable(false);
}

void gr__simt_stream_wait(gr__simt_stream *s)
{
    gr__simt_machine *m = gr__simt_now;
    if (s->first)
        run_until(m, s, NULL);
    join(&m->queue.host, &s->known);
}

void gr__simt_event_synchronize(gr__simt_event *e)
{
    gr__simt_machine *m = gr__simt_now;
    if (e->done < e->recorded)
        run_until(m, NULL, e);
    join(&m->queue.host, &e->time);
}

void gr__simt_wait_for_all(void)
{
    gr__simt_machine *m = gr__simt_here();
    if (!m)
        return;
    if (choose(m))
        run_until(m, NULL, NULL);
    for (int i = 1; i < GR__SIMT_STREAMS; i++)
        if (m->queue.stream[i])
            join(&m->queue.host, &m->queue.stream[i]->known);
}

void gr__simt_host_waited(void)
{
    gr__simt_machine *m = gr__simt_here();
    if (m)
        m->queue.waited = m->queue.host.at[0];
}

void gr__simt_launch(const gr__simt_config *c)
{
    gr__simt_machine *m = gr__simt_here();
    if (!m || m->fault[0])
        return;
    if (m->current)
        gr__simt_report(m, "launch from a kernel: %s of %s:%d", c->kernel, gr__simt_short(c->file), c->line);
    if (c->stream) {
        gr__simt_queue_item(c->stream, &(gr__simt_item){.kind = GR__SIMT_LAUNCH, .launch = *c});
        return;
    }
    gr__simt_wait_for_all();
    m->queue.host.at[0]++;
    m->queue.now = m->queue.host;
    m->queue.running = 0;
    gr__simt_touchable(true);
    gr__simt_run_launch(m, c);
    gr__simt_touchable(false);
}
