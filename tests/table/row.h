/*
 * row.h - one row of the operation table, read from its line in rows.def.
 */
#ifndef GRADUS_TABLE_ROW_H
#define GRADUS_TABLE_ROW_H

#include "kernels/ops/kernels.h"

typedef struct {
    const char *text; /* the line: name, specification and seed in one */
    bool golden;      /* PyTorch's answer is committed */
    bool host;        /* not for the CUDA kernels */
    bool gpu;         /* for them as nvcc makes them alone */
    uint64_t hash;    /* FNV-1a of text: the key of every number drawn for this row */
    const gr_op *op;
    int ndim[GR_MAX_IN]; /* by input slot; -1: absent */
    int64_t shape[GR_MAX_IN][GR_MAX_DIMS];
    _Alignas(16) unsigned char args[GR_MAX_ARGS]; /* of the operation, by the WORDS of its entry in ops.def */
    gr_step_state state;                          /* what the kernels read */
    bool whole;                                   /* of augment: maps that move pixels onto pixels */
    int resize[2];            /* of augment: maps that resize to so many rows and columns; 0: none */
    int nearly;               /* of augment: and then this coefficient, counted from 1, is off by a quarter; 0: none */
    bool second;              /* of dropout: the second call of its micro-batch */
    bool from_f16, from_bf16; /* of cast and overflow; the real type without */
    bool no_dx, no_db;        /* of dense_sgd and dense_adam: not wanted */
    int multiprocessors;      /* of the GPU that products are cut for */
    bool wgmma;               /* which has it, where the device does */
    bool halves;              /* given to kernels that leave halves of that size to others, too */
    int updates;              /* how often the golden repeats an UPDATE; at least 1 */
    bool ties;                /* inputs from {-1, 0, 1}: equal maxima, exact zeros; no central differences then */
    bool stray;               /* labels that are no class, too */
    bool fresh;               /* Adam's moments are 0 */
    bool skip;                /* the update is skipped */
    bool overflow; /* an element in the middle of g of unscale or x of overflow, or the loss of tally, is infinite */
    double scale;  /* of drawn inputs; 1 */
} row;

/* Whether a word stands in the line. */
bool row_has(const row *r, const char *name);

/* Reads a line. False: *why says what is wrong with it. */
bool row_parse(const char *text, bool golden, row *r, const char **why);

/* Slot number of an input by name, -1: there is none. */
int row_slot(const gr_op *op, const char *name);

#endif
