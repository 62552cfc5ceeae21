/*
 * bench_cases.h - what gradus bench measures: the cases that kernels/ops/ops.def names, at least one of every
 * operation, its shapes taken from the networks of the recipes, with the batch size N left free.
 */
#ifndef GRADUS_BENCH_CASES_H
#define GRADUS_BENCH_CASES_H

#include <stdio.h>

#include "gradus.h"

enum { BENCH_INPUTS = 8, BENCH_ARGS = 128 /* bytes of an operation's args */ };

typedef struct {
    bool update;       /* changes state: its one pass is named so */
    int id;            /* of the operation, as gr_op_name counts */
    const char *op;    /* its name */
    const char *about; /* whose layer it is */
    const char *row;   /* see kernels/ops/notation.h */
} bench_case;

/* All cases, by operation; the last is followed by one whose op is NULL. */
const bench_case *bench_cases(void);

/* One tensor of a case. */
typedef struct {
    const char *name;
    int slot, ndim;
    int64_t shape[GR_MAX_DIMS];
    bool has_batch;                      /* its first size is N */
    bool gradient, changed, written;     /* wanted; in place; written, not read */
    bool activation;                     /* in a network a batch, a layer's result or its gradient */
    bool outside;                        /* a gradient, or what becomes a factor of gradients */
    bool positive, bytes, picked, saved; /* see ops.def */
    bool bias;                           /* added to every sum */
    bool fine;                           /* a factor of sums that compete under windows */
    bool maps, turned;                   /* maps of pictures, mirrored or not and moved by up to 4; turned, too */
    int classes;                         /* of labels, 0: it holds none; of maps: pixels a side */
} bench_input;

/* A case at a batch size. */
typedef struct {
    int n;
    bench_input inputs[BENCH_INPUTS];
    bool saves_result;                           /* the backward pass reads the result */
    _Alignas(16) unsigned char args[BENCH_ARGS]; /* of the operation */
} bench_row;

bench_row bench_read(const bench_case *c, int64_t batch);

/* Calls the operation on the row's inputs; the result, or the first one changed in place. NULL: ctx tells. */
gr_tensor *bench_call(const bench_case *c, const bench_row *row, gr_context *ctx, gr_tensor *const *inputs);

/* The tensors alone, "z[N,10] labels[N]", into text, which is returned. */
const char *bench_shapes(const bench_case *c, char *text, size_t size);

#endif
