/*
 * device.h - the kernel tables under test, and what each must do in a row.
 */
#ifndef GRADUS_TABLE_DEVICE_H
#define GRADUS_TABLE_DEVICE_H

#include "tests/table/truth.h"

enum { POOLS = 3 }; /* of 1, 2 and 5 threads */

typedef struct {
    const char *name; /* "ref-f64", "ref-f32", an instruction set, "amx-bf16x3", "simt", "simt-tf32", "cuda"... */
    gr_type real;
    const gr_kernel *kernels;
    bool threads;               /* its kernels use a pool */
    bool (*supported)(void);    /* by this machine; NULL: by all */
    gr_device *(*memory)(void); /* the device whose memory kernels work in; NULL: the host's */
    bool emulated;              /* threads of a block can take turns in several orders */
    bool halves;                /* it has kernels for bf16 alone; all else is another's */
    bool tf32;                  /* its products are asked for with tf32 factors; it has no others to show */
    int pieces;                 /* likewise, with factors split into so many of bf16; 0: as they are */
} table_device;

extern const table_device table_devices[];
extern const int table_device_count;

/* NULL: there is none of this name. */
const table_device *table_device_find(const char *name);
bool table_device_here(const table_device *d);
/* Whether its kernels multiply this type of halves; GPUs before compute capability 8.0 have no bf16. */
bool table_device_takes(const table_device *d, gr_type half);

/*
 * Whether checks that change nothing but values are left out: of large rows on the emulator, in the builds that watch
 * each access of a kernel (sanitizers, the check build). There a row takes several times as long, and a NaN or a second
 * run in the same order goes where the first one went; what they do to results, the other builds see.
 */
bool table_device_watches(const table_device *d, const row *r);

/* Forward or UPDATE: values, bits from run to run and for any number of threads, NaN, skip. */
void device_check_forward(const table_device *d, truth *t, gr_pool *const pools[POOLS]);

/* Backward: garbage and preloaded buffers, absent ones, bits, NaN. */
void device_check_backward(const table_device *d, truth *t, gr_pool *const pools[POOLS]);

/*
 * Kernels that take halves as they are, in both types, against those for floats on the same numbers: values, guards,
 * bits, NaN, garbage and preloaded buffers, absent ones. Nothing where the device has none for the row.
 */
void device_check_halves(const table_device *d, const truth *t, gr_pool *const pools[POOLS]);

/*
 * Kernels that change a copy in halves with the weights, in both types: the copy is what the weights are rounded to,
 * and all else the same bits as without; a skipped update leaves it. Nothing where the device has none for the row.
 */
void device_check_copies(const table_device *d, const truth *t);

#endif
