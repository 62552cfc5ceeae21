/*
 * link.h - from device to device: what carries elements of tensors between ranks where the host's memory would be a
 * detour. Calls are asked of the device and done in its order, behind what it was asked for before.
 */
#ifndef GRADUS_LINK_H
#define GRADUS_LINK_H

#include "core/group/group.h"

typedef struct gr_link gr_link;
struct gr_link {
    /*
     * Sends to a peer and receives from it, addresses of this rank's device; either may be 0 bytes. Returns when the
     * device has been asked. The peer's calls pair with these. False: why[size] tells.
     */
    bool (*exchange)(gr_link *l, int peer, const void *send, size_t send_bytes, void *receive, size_t receive_bytes,
                     char *why, size_t size);
    /* Whether what is under way may still end well. False: why[size] tells. */
    bool (*check)(gr_link *l, char *why, size_t size);
    void (*abort)(gr_link *l); /* what is under way ends, undone; the device's queue goes on */
    void (*close)(gr_link *l);
};

/*
 * Opens the way between the devices of all ranks, where they have one; all ranks call it, each with its own context,
 * before the first sum. Without one sums go through the host's memory, to the same bits. False: recorded.
 */
bool gr__group_connect(gr_group *g, gr_context *ctx);

/* Before the context that was connected is closed. */
void gr__group_disconnect(gr_group *g);

/*
 * For whoever waits for a device that waits for other ranks, since begin (gr__seconds): whether to go on waiting.
 * False: a rank has ended, or it takes too long: why[size] tells.
 */
bool gr__group_waits(gr_group *g, double begin, char *why, size_t size);

#endif
