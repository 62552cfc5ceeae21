/*
 * bench_cases.h - what gradus bench measures: at least one case of every operation, its shapes taken from the networks
 * of the recipes, with the batch size N left free.
 */
#ifndef GRADUS_BENCH_CASES_H
#define GRADUS_BENCH_CASES_H

#include <stdio.h>

#include "gradus.h"

enum { BENCH_INPUTS = 6 };

typedef struct {
    const char *op;
    const char *about; /* whose layer it is */
    /*
     * The tensors, a word each: NAME[SIZES] and
     *   *  its gradient is wanted   &  it is changed in place       =  it is written, not read
     *   ~  a gradient from outside  +  positive                     u  of bytes   a number: labels below it
     *   ?  of it is read what the result holds
     *   m  behind a number: maps of pictures of so many pixels a side, mirrored or not and moved by up to 4;  t  and turned
     */
    const char *inputs;
    /* Calls the operation on them; the result, or the first one changed in place. NULL: failed. */
    gr_tensor *(*call)(gr_tensor *const *in);
    /* What the backward pass must read beside the gradient of the result, for GB/s. */
    enum { READS_NOTHING, READS_INPUTS, READS_RESULT, READS_BOTH } reads;
} bench_case;

extern const bench_case bench_cases[]; /* ends with one whose op is NULL */

/* One word of inputs. */
typedef struct {
    char name[16];
    int ndim;
    int64_t shape[GR_MAX_DIMS];
    bool has_batch; /* its first size is N */
    bool gradient, changed, written, outside, positive, bytes, picked;
    bool maps, turned;
    int classes; /* of labels, 0: it holds none; of maps: pixels a side */
} bench_input;

/* Reads the words for a batch size; returns how many there are. */
int bench_inputs(const bench_case *c, int64_t batch, bench_input inputs[BENCH_INPUTS]);

/* The tensors without their marks, "x[N,10] labels[N]", into text, which is returned. */
const char *bench_shapes(const bench_case *c, char *text, size_t size);

#endif
