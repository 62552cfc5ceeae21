/*
 * staging.h - the way of data from the host into a GPU's memory: the host goes on as soon as it has been copied once,
 * and a large piece travels while the device computes. One text for the devices cuda and simt.
 *
 *   host memory -> pinned memory       by the host, which waits for a piece of before to have left it
 *   pinned memory -> a device buffer   in the copy stream, beside whatever the compute stream does
 *   device buffer -> destination       in the compute stream, in its turn: nothing there is overwritten too early
 *
 * What is small, the numbers of a step and labels, goes from pinned memory to its destination in the compute stream.
 */
#ifndef GRADUS_STAGING_H
#define GRADUS_STAGING_H

#include <stdbool.h>
#include <stddef.h>

#include "core/stopwatch.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What streams can do, with the meaning of CUDA's calls. False or NULL: failed. An event never recorded stands for
 * nothing.
 */
typedef struct {
    void *(*event_open)(void);
    void (*event_close)(void *event);
    bool (*event_record)(void *event, void *stream);
    bool (*stream_wait)(void *stream, void *event); /* what is asked of stream from now on waits */
    bool (*host_wait)(void *event);
    bool (*copy)(void *dst, const void *src, size_t bytes, void *stream);
    void *(*pinned_alloc)(size_t bytes);
    void (*pinned_free)(void *p);
    void *(*device_alloc)(size_t bytes);
    void (*device_free)(void *p);
} gr_stream_calls;

enum { GR__SLOTS = 2, GR__PIECE = 4 << 20, GR__SMALL = 64 << 10, GR__SMALL_ROOM = 256 << 10 /* bytes */ };

/* Room for a piece on its way. */
typedef struct {
    char *pinned, *device;
    void *arrived; /* in the device buffer: pinned is free again */
    void *taken;   /* from the device buffer: it is free again */
} gr_staging_slot;

/* Room for many small ones. */
typedef struct {
    char *pinned;
    size_t used;
    void *left; /* all of them have left it */
} gr_staging_room;

typedef struct {
    const gr_stream_calls *calls;
    void *compute, *copies; /* streams */
    gr_staging_slot slot[GR__SLOTS];
    gr_staging_room room[GR__SLOTS];
    int next_slot, now_room;
    gr_stopwatch *stopwatch; /* NULL: nobody times */
} gr_staging;

/*
 * dst[bytes] = src[bytes] in the order of the compute stream; src may be changed when it returns. False: a call failed.
 */
bool gr__staging_upload(gr_staging *s, void *dst, const void *src, size_t bytes);

/* Gives everything back; both streams must be done. */
void gr__staging_close(gr_staging *s);

extern const gr_stream_calls gr__simt_stream_calls; /* of the emulator */

#ifdef __cplusplus
}
#endif
#endif
