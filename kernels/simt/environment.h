/*
 * environment.h - what the environment asks of the emulator: GRADUS_SIMT_ORDER, _SEED, _TENSOR_CORES and
 * _MULTIPROCESSORS.
 */
#ifndef GRADUS_SIMT_ENVIRONMENT_H
#define GRADUS_SIMT_ENVIRONMENT_H

#include "kernels/simt/simt.h"

typedef struct {
    gr__simt_order order;
    uint64_t seed;
    int tensor_cores;    /* of which compute capability */
    int multiprocessors; /* of the GPU that is played, for which products are cut: an A100's, if nobody says */
} gr__simt_wishes;

/*
 * What a variable that is not set, or empty, or none of what it may be, leaves as it usually is. Of the last kind *why
 * says which variable, what it is and what it may be, until this thread asks again; else it is NULL.
 */
gr__simt_wishes gr__simt_environment(const char **why);

/* The whole number in a variable, usual if it is unset or empty. False: it is none from least to most, as *why says. */
bool gr__simt_environment_number(const char *variable, uint64_t usual, uint64_t least, uint64_t most, uint64_t *number,
                                 const char **why);

#endif
