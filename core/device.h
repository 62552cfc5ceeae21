/*
 * device.h - what core/ asks of a device: memory, copies, and a kernel for every operation.
 */
#ifndef GRADUS_DEVICE_H
#define GRADUS_DEVICE_H

#include "core/group/group.h"
#include "core/op.h"
#include "core/stopwatch.h"

/*
 * Work of known size, spread over all that a device has, to find its limits. Each returns when the work is done; read
 * and copy do it times over, so that what a call costs is small beside a few kilobytes.
 */
typedef struct {
    double (*arithmetic)(const gr_exec *exec, void *result); /* in registers; returns its floating-point operations */
    void (*read)(const gr_exec *exec, const void *src, size_t bytes, int times, void *result);
    void (*copy)(const gr_exec *exec, void *dst, const void *src, size_t bytes, int times);
    void (*copy_cached)(const gr_exec *exec, void *dst, const void *src, size_t bytes, int times); /* may be NULL */
} gr_probes; /* result: GR__PROBE_RESULT bytes for what nobody will read, so that the work cannot be left out */
enum { GR__PROBE_RESULT = 64 * 1024 };

typedef struct gr_device gr_device;
struct gr_link; /* core/group/link.h */
struct gr_device {
    const char *name;         /* "cpu" */
    const char *isa;          /* "avx512" */
    gr_type real;             /* GR_F32, or GR_F64 */
    const gr_kernel *kernels; /* by operation id */
    const gr_op *cast;        /* the operation that converts between floating-point types */
    const gr_probes *probes;
    struct gr_pool *pool; /* NULL unless a CPU device */
    void *queue;          /* NULL unless a GPU device */
    unsigned *arrivals;   /* gr_exec.arrivals, its own: its kernels have one stream and so take turns with them */
    bool on_host;         /* its memory is the host's: a tensor may be filled in place */
    bool reads_host;      /* its kernels may read any memory of the host's */
    bool without_bf16;    /* it cannot multiply bf16 */
    bool tf32;            /* it can multiply tf32 factors: gr_exec.tf32 */
    bool pieces;          /* it can multiply floats by pieces of bf16: gr_exec.pieces */
    int multiprocessors;  /* of a GPU: gr_exec.multiprocessors */
    bool wgmma;           /* a GPU that has these instructions, and code for them: gr_exec.wgmma */

    gr_stopwatch *stopwatch; /* NULL unless it runs behind the host and has a clock of its own */

    void *(*alloc)(gr_device *d, size_t bytes); /* zero-filled, 256-byte aligned; NULL: out of memory */
    void (*free)(gr_device *d, void *p, size_t bytes);
    bool (*upload)(gr_device *d, void *dst, const void *src, size_t bytes);    /* host to device, in order */
    bool (*download)(gr_device *d, void *dst, const void *src, size_t bytes);  /* device to host, waits */
    bool (*add_real)(gr_device *d, void *dst, const void *src, int64_t count); /* dst += src, real elements */
    /* Makes it the calling thread's device, for kernels; the functions here do so themselves. NULL: nothing to do. */
    void (*enter)(gr_device *d);
    /* NULL on devices whose kernels have returned when they are done: */
    bool (*wait)(gr_device *d);         /* until all that was asked for is done */
    const char *(*fault)(gr_device *d); /* what has gone wrong, or NULL; a kernel's fault may show only later */
    void (*close)(gr_device *d);

    /*
     * NULL unless tensors may go from device to device. What all ranks of the group can use, asked for by all of them;
     * *link NULL: there is nothing such. False: it should be there and is not, which why[size] tells, or the group has
     * ended.
     */
    bool (*link)(gr_device *d, gr_group *g, struct gr_link **link, char *why, size_t size);
    bool (*idle)(gr_device *d); /* whether all that was asked for is done, or has failed; where there is a link */

    /*
     * NULL unless what kernels and add_real are asked for can be written down, not done, and be done later as a whole,
     * any number of times, with the same addresses and arguments. In between uploads and downloads fail.
     */
    bool (*capture_begin)(gr_device *d);
    void *(*capture_end)(gr_device *d); /* the graph; NULL: it failed */
    bool (*replay)(gr_device *d, void *graph);
    void (*graph_close)(gr_device *d, void *graph);

    /* NULL unless the device counts what its kernels ask for, from one call to the other: */
    void (*count_begin)(gr_device *d);
    gr_counters (*count_end)(gr_device *d);
};

struct gr_mixed_precision;

/*
 * Opens a context on a device that the caller has made; takes it over. device NULL: the context carries the error.
 * mixed: &gr__mixed_precision of precision.h.
 */
gr_context *gr__context_open(const gr_options *options, gr_device *device, const struct gr_mixed_precision *mixed);

#endif
