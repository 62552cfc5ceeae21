/* bench_memory_trial.h - real updates of a run over one way of handing out memory, in a process of their own. */
#ifndef GRADUS_BENCH_MEMORY_TRIAL_H
#define GRADUS_BENCH_MEMORY_TRIAL_H

#include "bench/bench_memory_methods.h"
#include "settings/resolved.h"

typedef struct {
    int64_t grown;                /* bytes that the process grew by at most; -1: not known */
    int64_t persistent, step;     /* by the context's count: for good, and at most within an update */
    double seconds;               /* of an update: the middle one */
    double asked, system, faults; /* of an update: tensors and scratch, calls of mmap or malloc, page faults */
    double loss;                  /* of an early update: the same bits by every method */
    int threads;
    char device[16], isa[16], precision[8];
} memory_trial;

/* So many seconds of them, on drawn samples, without evaluation. Returns 0 or an exit code, complained of. */
int memory_trial_run(const resolved *run, memory_method method, double seconds, memory_trial *out);

#endif
