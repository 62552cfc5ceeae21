/*
 * tensor.h - what a tensor is inside. Kernels read type, shape, count and data, nothing else.
 */
#ifndef GRADUS_TENSOR_H
#define GRADUS_TENSOR_H

#include "core/arena.h"
#include "core/core.h"

typedef enum {
    GR__PERSISTENT, /* until gr_close: parameters, gradients, moments, batch buffers */
    GR__STEP,       /* until gr_step_end: what operations return, activation gradients */
    GR__ALIAS       /* a step tensor that shares the storage of another: flatten */
} gr_lifetime;

struct gr_tensor {
    gr_context *ctx;
    void *data; /* device memory; meaningless while planning */
    gr_type type;
    int ndim;
    int64_t shape[GR_MAX_DIMS]; /* 1 beyond ndim */
    int64_t count;              /* product of shape */

    gr_lifetime lifetime;
    gr_block block;       /* where a step tensor lies; size 0 once released */
    bool wants_grad;      /* lies on a path from a leaf */
    bool grad_written;    /* leaf: grad holds a value, the next backward adds to it */
    int32_t node;         /* index of the tape node that made it, -1 for a leaf or a constant */
    gr_tensor *grad;      /* leaf: persistent, made at the first backward. Else: alive only while backward runs */
    struct gr_slab *slab; /* of a parameter: where its gradient will lie; NULL otherwise */
    int32_t segment;      /* of a parameter: its index in slab */
    gr_tensor *half;      /* copy in the context's half type; NULL: none */
    int64_t half_step;    /* of a tensor that is no parameter: the step that the copy belongs to */
    gr_tensor *master;    /* of such a copy: what it was made from, whose gradient it gathers */
};

/* Bytes of its storage, without any alignment. */
static inline size_t gr__bytes(const gr_tensor *t)
{
    return (size_t)t->count * gr_type_size(t->type);
}

/* ptr[i] of a real tensor as the kernels of one type see it: gr__f32(x)[i]. */
static inline float *gr__f32(const gr_tensor *t)
{
    return t ? (float *)t->data : NULL;
}
static inline double *gr__f64(const gr_tensor *t)
{
    return t ? (double *)t->data : NULL;
}
static inline uint8_t *gr__u8(const gr_tensor *t)
{
    return t ? (uint8_t *)t->data : NULL;
}
static inline int32_t *gr__i32(const gr_tensor *t)
{
    return t ? (int32_t *)t->data : NULL;
}

/* A tensor of a shape that is already known to be sane; NULL and a sticky error when memory is out. */
gr_tensor *gr__tensor_persistent(gr_context *ctx, gr_type type, int ndim, const int64_t *shape);
gr_tensor *gr__tensor_step(gr_context *ctx, gr_type type, int ndim, const int64_t *shape);

/* A persistent tensor over storage that somebody else owns: a segment of a slab. */
gr_tensor *gr__tensor_over(gr_context *ctx, gr_type type, int ndim, const int64_t *shape, void *data);

/* A step tensor of another shape over the storage of t (same count). */
gr_tensor *gr__tensor_alias(gr_tensor *t, int ndim, const int64_t *shape);

/* Whose gradient an input of an operation stands for: a half copy's is its master's, in the master's type. */
static inline gr_tensor *gr__origin(gr_tensor *t)
{
    return t && t->master ? t->master : t;
}

/* Whether t is f16 or bf16. */
static inline bool gr__is_half(const gr_tensor *t)
{
    return t && (t->type == GR_F16 || t->type == GR_BF16);
}

/* Gives the storage of a step tensor back before the step ends. NULL, aliases and persistent tensors are left alone. */
void gr__release(gr_tensor *t);

/* Makes alias, an alias of the step tensor t, the owner of its storage; t becomes the alias. */
void gr__transfer_storage(gr_tensor *t, gr_tensor *alias);

/* "[16,200,200,3]" into text. */
void gr__shape_text(const gr_tensor *t, char *text, size_t size);

/*
 * Checks a shape: 0..GR_MAX_DIMS sizes of at least 1 whose product (in bytes) fits. False: recorded as a usage error.
 */
bool gr__shape_check(gr_context *ctx, gr_type type, int ndim, const int64_t *shape);

#endif
