/*
 * loader.h - a loader, between the files that make it up: loader_open.c makes one, loader_fill.c decides what is in a
 * batch and fills it on the host, loader.c gives batches out.
 */
#ifndef GRADUS_LOADER_H
#define GRADUS_LOADER_H

#include "data/augmentation/augment.h"
#include "data/loading/host_batch.h"
#include "data/loading/resident.h"
#include "data/loading/ring.h"

/* Device memory for a full batch, and the tensor over its first rows that callers see. */
typedef struct {
    gr_tensor *storage, *view;
} gr_buffer;

struct gr_loader {
    gr_dataset *set;
    gr_context *ctx;
    gr_loader_options options;

    /* what comes next into a host batch */
    int64_t *order;   /* [n] of the epoch that is being filled */
    int64_t filling;  /* that epoch, from 0; below the options' first: none yet */
    int64_t position; /* samples of it already dealt out */

    /* what comes next out */
    int64_t epochs;     /* begun */
    int64_t given;      /* batches of this epoch, the one under way included */
    bool running;       /* inside an epoch */
    gr_host_batch *now; /* the batch under way; NULL: none yet */
    int64_t done;       /* rows of it that have been given out */

    gr_host_batch_options batch_options;
    int n_slots;
    gr_host_batch *slots; /* [n_slots] */
    int64_t piece_rows;   /* rows that a thread fills at a time */
    int workers;
    gr_ring *ring; /* NULL: no workers, one slot */

    gr_resident resident;   /* the set on the device, where it was asked there */
    gr_buffer x, y, weight; /* u8 [micro, H, W, C] unless resident, i32 [micro], real [micro] (NULL unless padding) */
    gr_buffer index;        /* i32 [micro] where resident */
    gr_buffer map;          /* i32 [micro, GR_MAP] where the set is augmented */
    int64_t wait, copy;     /* nanoseconds, see gr_loader_time */
    _Atomic int64_t making, reading; /* the same, of all threads */
};

/*
 * Deals the samples of the next batch out to a slot; behind the last one comes what fills up. A ring's job: user is the
 * loader.
 */
void gr__loader_prepare(void *user, int slot);

/* Fills the rows of a piece (piece_rows each) of the batch in a slot, and keeps the time. A ring's job too. */
void gr__loader_fill_piece(void *user, int slot, int64_t piece);

/* Fills the next rows of the batch under way by the context's threads. */
void gr__loader_fill_now(gr_loader *loader, int64_t rows);

#endif
