/*
 * device_batch.h - the one batch on the device. Batches arrive at fixed addresses; the tensors that callers see are
 * views of their first rows, which is how a short last batch shares the storage.
 */
#ifndef GRADUS_DEVICE_BATCH_H
#define GRADUS_DEVICE_BATCH_H

#include "data/loading/host_batch.h"
#include "data/loading/resident.h"

/* Device memory for a full batch, and the tensor over its first rows. */
typedef struct {
    gr_tensor *storage, *view;
} gr_buffer;

typedef struct {
    gr_dataset *set;
    gr_resident resident; /* the set on the device, where it was asked there */
    gr_buffer x;          /* u8 [rows, H, W, C] unless resident */
    gr_buffer y;          /* i32 [rows] */
    gr_buffer weight;     /* real [rows] where the last batch is padded */
    gr_buffer index;      /* i32 [rows] where resident */
    gr_buffer map;        /* i32 [rows, GR_MAP] where the set is augmented */
} gr_device_batch;

/* Room for options->micro_batch rows. False: recorded; gr__device_batch_free is due all the same. */
bool gr__device_batch_make(gr_device_batch *d, gr_dataset *set, const gr_loader_options *options);
void gr__device_batch_free(gr_device_batch *d);

/* Copies rows of b, from row first on; in_place: their pictures are there already. False: recorded. */
bool gr__device_batch_copy(gr_device_batch *d, const gr_host_batch *b, int64_t first, int64_t rows, bool in_place);

/*
 * The batch over the first rows of the buffers, augmented and normalised; its place among the pieces is left as it is.
 * False: recorded.
 */
bool gr__device_batch_present(gr_device_batch *d, int64_t rows, int64_t samples, gr_batch *batch);

#endif
