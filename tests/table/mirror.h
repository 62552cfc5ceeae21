/*
 * mirror.h - a trial's buffers in the memory of a device that is not the host's: guards and all, there and back.
 */
#ifndef GRADUS_TABLE_MIRROR_H
#define GRADUS_TABLE_MIRROR_H

#include "core/device.h"

enum { MIRRORED = 24 };

typedef struct {
    gr_device *device;
    int n;
    struct {
        void *host, *there;
        size_t bytes;
    } blocks[MIRRORED];
    gr_step_state *state;
    bool good; /* every copy so far */
} mirror;

void mirror_open(mirror *m, gr_device *device);

/* Copies bytes from host to the device, back at mirror_close; returns the address there. */
void *mirror_block(mirror *m, void *host, size_t bytes);

/* The step state there. */
const gr_step_state *mirror_state(mirror *m, const gr_step_state *state);

/* Waits, copies everything back and frees it. Returns NULL, or what went wrong. */
const char *mirror_close(mirror *m);

#endif
