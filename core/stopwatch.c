/* stopwatch.c - see stopwatch.h. Events are made when they are first wanted, and used again. */
#include "core/stopwatch.h"

#include <stdlib.h>

#include "core/clock.h"

/* The device is idle then, so the event is reached at once; the host sees it a little later. */
static bool set_zero(gr_stopwatch *w)
{
    const gr_timed_events *e = w->events;
    w->n = w->tagged = 0;
    w->lost = false;
    if (!w->zero)
        w->zero = e->open();
    if (!w->zero || !e->record(w->zero, w->compute) || !e->wait(w->zero))
        return false;
    w->zero_at = gr__seconds();
    return true;
}

bool gr__stopwatch_start(gr_stopwatch *w)
{
    return w->on = set_zero(w);
}

void gr__stopwatch_stop(gr_stopwatch *w)
{
    w->on = false;
}

/* --- stretches ---------------------------------------------------------------------------------------------------- */

static bool grow(gr_stopwatch *w)
{
    const int room = w->room ? 2 * w->room : 256;
    gr_stretch *grown = realloc(w->stretch, (size_t)room * sizeof *grown);
    if (!grown)
        return false;
    w->stretch = grown;
    w->room = room;
    return true;
}

/* Stretch number n has its events. */
static bool make(gr_stopwatch *w)
{
    if (w->n < w->made)
        return true;
    if (w->n == w->room && !grow(w))
        return false;
    gr_stretch s = {.begin = w->events->open(), .end = w->events->open()};
    if (s.begin && s.end) {
        w->stretch[w->made++] = s;
        return true;
    }
    if (s.begin)
        w->events->close(s.begin);
    if (s.end)
        w->events->close(s.end);
    return false;
}

int gr__stopwatch_begin(gr_stopwatch *w, int number, void *stream)
{
    if (!w || !w->on)
        return -1;
    if (!make(w)) {
        w->lost = true;
        return -1;
    }
    w->events->record(w->stretch[w->n].begin, stream); /* of a device that fails, the reading tells */
    w->stretch[w->n].tag = 0;
    w->stretch[w->n].stream = number;
    return w->n++;
}

void gr__stopwatch_end(gr_stopwatch *w, int stretch, void *stream)
{
    if (stretch >= 0)
        w->events->record(w->stretch[stretch].end, stream);
}

void gr__stopwatch_tag(gr_stopwatch *w, int64_t tag)
{
    while (w->tagged < w->n)
        w->stretch[w->tagged++].tag = tag;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bool read_stretch(const gr_stopwatch *w, const gr_stretch *s, gr_device_time *t)
{
    const gr_timed_events *e = w->events;
    double begin, end;
    if (!e->seconds(w->zero, s->begin, &begin) || !e->seconds(w->zero, s->end, &end))
        return false;
    *t = (gr_device_time){s->tag, s->stream, w->zero_at + begin, w->zero_at + end};
    return true;
}

bool gr__stopwatch_read(gr_stopwatch *w, void (*tell)(void *user, const gr_device_time *time), void *user,
                        bool *complete)
{
    bool good = true;
    *complete = !w->lost;
    gr_device_time t;
    for (int i = w->n - 1; i >= 0 && good; i--) /* the last one first: then nobody stops the device in between */
        good = w->events->wait(w->stretch[i].end);
    for (int i = 0; i < w->n && good; i++)
        if ((good = read_stretch(w, &w->stretch[i], &t)))
            tell(user, &t);
    return set_zero(w) && good; /* anew: a GPU tells the time between two events as a float of milliseconds */
}

void gr__stopwatch_close(gr_stopwatch *w)
{
    for (int i = 0; i < w->made; i++) {
        w->events->close(w->stretch[i].begin);
        w->events->close(w->stretch[i].end);
    }
    if (w->zero)
        w->events->close(w->zero);
    free(w->stretch);
}
