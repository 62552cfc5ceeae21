/*
 * resident.h - a set whose pictures lie on the device: batches are then made of indices.
 */
#ifndef GRADUS_RESIDENT_H
#define GRADUS_RESIDENT_H

#include "data/dataset.h"

typedef struct {
    gr_tensor *pictures; /* u8 [n, H, W, C] as batches want them; NULL: the set is not on the device */
    bool by_row;         /* they are those of all images in memory, so the index of a sample is its row */
    void *memory;        /* of the device, NULL where it is the set's own */
    size_t bytes;
} gr_resident;

/*
 * Brings the set to the device, decoding what is not in memory. Where the device computes in the host's memory nothing
 * is copied unless the set is resized or decoded late. False: recorded; gr__resident_free is due all the same.
 */
bool gr__resident_make(gr_dataset *set, gr_resident *r);
void gr__resident_free(gr_context *ctx, gr_resident *r);

#endif
