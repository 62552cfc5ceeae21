/*
 * host_calls.h - functions of the host that are called from kernels, kernels that are called without <<<>>> or return
 * something, variables of the device that the host reads and writes: nvcc refuses that or warns, and g++, which knows
 * one kind of function and of variable, does not.
 */
#ifndef GRADUS_SIMT_HOST_CALLS_H
#define GRADUS_SIMT_HOST_CALLS_H

#include <stdio.h>

#include "kernels/simt/compiler/tokens.h"

/*
 * A warning for each such thing that is one beyond doubt. A call is where it is by the bare name, in a function of a
 * namespace that is __global__ or __device__ alone, of a function of a namespace that nowhere is __device__, and of
 * whose name there is nothing else in the function or in a system header.
 */
void gr__warn_of_host_calls(const tokens *t, FILE *out);

#endif
