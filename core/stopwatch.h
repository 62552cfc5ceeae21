/*
 * stopwatch.h - when a device that runs behind the host did what it was asked for, by its own clock: an event in the
 * stream before, one behind, and nobody waits until they are read.
 */
#ifndef GRADUS_STOPWATCH_H
#define GRADUS_STOPWATCH_H

#include "core/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Events that know when they were reached, with the meaning of CUDA's calls. False or NULL: failed. */
typedef struct {
    void *(*open)(void);
    void (*close)(void *event);
    bool (*record)(void *event, void *stream);
    bool (*wait)(void *event);
    bool (*seconds)(void *from, void *to, double *seconds); /* between two that were waited for */
} gr_timed_events;

/* What was asked of a stream from one event to the other. */
typedef struct {
    void *begin, *end;
    int64_t tag;
    int stream; /* as in gr_device_time */
} gr_stretch;

typedef struct {
    const gr_timed_events *events;
    void *compute; /* the stream of all work */
    bool on;
    bool lost;      /* a stretch found no memory */
    void *zero;     /* an event, and the host's clock when it was seen to be done */
    double zero_at; /* seconds */
    gr_stretch *stretch;
    int n, tagged; /* taken since the last reading; that have their tag */
    int made;      /* that have their events, from before too */
    int room;
} gr_stopwatch;

/* Begins to time; waits for the device. False: it failed. What was timed before and not read is forgotten. */
bool gr__stopwatch_start(gr_stopwatch *w);
void gr__stopwatch_stop(gr_stopwatch *w);

/* What is asked of a stream in between is timed. w may be NULL, or stopped: begin gives -1, which end takes. */
int gr__stopwatch_begin(gr_stopwatch *w, int number, void *stream);
void gr__stopwatch_end(gr_stopwatch *w, int stretch, void *stream);

/* All stretches without a tag get this one. */
void gr__stopwatch_tag(gr_stopwatch *w, int64_t tag);

/*
 * Waits for the device, tells of all stretches in the order in which they began, and forgets them; *complete: none of
 * them lacks for want of memory. False: the device has failed.
 */
bool gr__stopwatch_read(gr_stopwatch *w, void (*tell)(void *user, const gr_device_time *time), void *user,
                        bool *complete);

/* Gives everything back; the streams must be done. */
void gr__stopwatch_close(gr_stopwatch *w);

#ifdef __cplusplus
}
#endif
#endif
