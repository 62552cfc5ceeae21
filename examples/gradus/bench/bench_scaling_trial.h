/* bench_scaling_trial.h - updates of a run by so many ranks, threads of this process with a processor each. */
#ifndef GRADUS_BENCH_SCALING_TRIAL_H
#define GRADUS_BENCH_SCALING_TRIAL_H

#include "settings/resolved.h"

typedef struct {
    double seconds;      /* of an update: the middle one */
    double loss;         /* of the same early update in every trial of a run */
    double small, large; /* seconds of a sum over the ranks: of next to nothing, of all gradients */
    double bytes;        /* of the gradients */
    char device[16], isa[16];
} scaling_trial;

/* For so many seconds; ranks is a power of two. Returns 0 or an exit code, complained of. */
int scaling_trial_run(const resolved *run, int ranks, double seconds, scaling_trial *out);

#endif
