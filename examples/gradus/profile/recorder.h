/*
 * recorder.h - what the trace of a context tells, update by update: sums in lines, by operation and by module, and the
 * events themselves, as many as the trace file will have room for.
 */
#ifndef GRADUS_RECORDER_H
#define GRADUS_RECORDER_H

#include "gradus.h"

/* The ways to add up, each into so many lines at most. */
typedef enum { BY_OPERATION, BY_MODULE, GROUPINGS } grouping;
enum { RECORDER_LINES = 1024 };

/* Sums over all updates; times in seconds, each event's own: without what lies inside it. */
typedef struct {
    const char *name, *pass;
    double calls, flops, bytes_read, bytes_written;
    double now;          /* time in this update */
    double sum, squares; /* of the updates' times */
} line;

/* A distinct call: an operation of a module with its shapes, a copy, or a span. */
typedef struct {
    const char *op, *module, *pass; /* as the trace names them */
    gr_trace_kind kind;
    double flops, bytes_read, bytes_written; /* of one call */
    char shapes[128];                        /* of the inputs */
    int line[GROUPINGS];                     /* -1: none */
    double sum;                              /* seconds of its own in all updates */
} site;

typedef struct {
    double begin, end;
    int64_t memory;
    int site, thread; /* of recorder_sites; thread as in gr_trace_event */
    int stream;       /* of the device, which did it from begin to end; 0: the host did, or sent it off */
} recorded_event;

typedef struct {
    double begin, end;
    size_t first, events; /* of the list of events */
    int64_t number;       /* of the run, from 1 */
} recorded_update;

typedef struct recorder recorder;

/* Makes room for so many events in all; sums go on beyond. NULL: out of memory, complained of. */
recorder *recorder_open(gr_context *ctx, size_t events, const char *command);
void recorder_close(recorder *r); /* NULL is fine */

void recorder_begin(recorder *r); /* an update begins and is to be recorded */
void recorder_warm(recorder *r);  /* one begins that the trace costs its time, but nothing is kept of it */
void recorder_pause(recorder *r); /* one begins that is not traced */
/* The update begun is over, number so and so of the run. False: the host is out of memory, complained of. */
bool recorder_end(recorder *r, int64_t number);

/* What there is: the sites, the updates with those events that found room, in the order in which they ended. */
const site *recorder_sites(const recorder *r, int *n);
const recorded_update *recorder_updates(const recorder *r, int64_t *n);
const recorded_event *recorder_events(const recorder *r);
int64_t recorder_lost(const recorder *r); /* events that found none */

/* Whether the device runs behind the host and is timed by its own clock. */
bool recorder_by_device(const recorder *r);

/*
 * Lines of a grouping. Those by operation are kernels, copies and "loader", which fills batches or waits for them; what
 * is between them is the host's, and with it they add up to the updates' time. By the device's clock it is the device
 * that is busy with kernels and copies or idle, and "loader" is no line. Those by module are kernels alone.
 */
const line *recorder_lines(const recorder *r, grouping g, int *n);
const line *recorder_rest(const recorder *r);

/* Mean and standard error, which is NAN of one update: of an update's time; of a line's share of it. */
typedef struct {
    double mean, error;
} estimate;
estimate recorder_update_time(const recorder *r);
estimate recorder_line_time(const recorder *r, const line *l);

/* The most memory that was taken on the device, and where: NULL before the first kernel. */
const site *recorder_peak(const recorder *r, int64_t *bytes);

/* Seconds beside the lines in all updates: other threads filling batches; the host loading while a device computes. */
double recorder_beside(const recorder *r);
double recorder_loading(const recorder *r);

#endif
