/*
 * host_batch.h - one batch on the host: which samples it holds, and room for their pictures, labels and weights. Rows
 * are filled by any thread, several at a time.
 */
#ifndef GRADUS_HOST_BATCH_H
#define GRADUS_HOST_BATCH_H

#include <pthread.h>

#include "data/dataset.h"
#include "data/decoding/image.h"

typedef struct {
    int64_t epoch;         /* from 0 */
    int64_t rows, samples; /* with and without padding */
    int64_t begin, end;    /* the rows of this rank's shards; nobody fills the others */
    int64_t *picks;        /* [batch] sample of each row; -1: padding */
    int64_t first;         /* the row that lies first in what follows, where there is room for some only */
    uint8_t *pixels;       /* [room, H, W, C]; NULL: the set lies on the device, or all is a plan */
    int32_t *index;        /* [room] where the pictures lie on the device; NULL: the set is not there */
    bool by_row;           /* index is by images, not by samples */
    int32_t *maps;         /* [room, GR_MAP]; NULL: the set is not augmented */
    int32_t *labels;       /* [room] */
    void *weights;         /* real [room]; NULL: all ones */
    int64_t bad;           /* the first row whose picture could not be read; INT64_MAX: none */
    gr_decoded why;        /* of that row */
    char reason[GR__REASON_SIZE];
    pthread_mutex_t lock; /* of these three */
} gr_host_batch;

typedef struct {
    int64_t batch, room; /* rows */
    bool padding;        /* wants weights */
    bool on_device;      /* wants an index, no pixels */
    bool in_place;       /* pixels will be the caller's */
} gr_host_batch_options;

/* False: recorded; gr__host_batch_free is due all the same. */
bool gr__host_batch_make(const gr_dataset *set, const gr_host_batch_options *options, gr_host_batch *b);
void gr__host_batch_free(const gr_host_batch_options *options, gr_host_batch *b);

int64_t gr__host_batch_row_bytes(const gr_dataset *set); /* of pixels */

/* Fills row i, one of rows and of those for which there is room. */
void gr__host_batch_fill(const gr_dataset *set, gr_host_batch *b, int64_t i, int64_t *reading); /* see gr__image_read */

/* True when all pictures were read; else records which was not, and why. */
bool gr__host_batch_good(const gr_dataset *set, const gr_host_batch *b);

#endif
