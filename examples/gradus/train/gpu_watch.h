/*
 * gpu_watch.h - how busy a GPU is while a run goes on: what nvidia-smi shows, read through NVIDIA's management library
 * (NVML), which comes with the driver and is opened at run time.
 */
#ifndef GRADUS_GPU_WATCH_H
#define GRADUS_GPU_WATCH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t readings;     /* 0: nothing is known and the rest means nothing */
    double utilisation;   /* mean share of time in which a kernel ran, in % */
    int64_t memory_bytes; /* most memory in use, by all programs on the GPU */
    double power;         /* mean, in watts */
} gpu_use;

typedef struct gpu_watch gpu_watch;

/* Begins to read GPU number `gpu` ten times a second in a thread of its own. NULL: there is no NVML or no such GPU. */
gpu_watch *gpu_watch_begin(int gpu);

/* What was read since it began, or since this was last asked. NULL is fine: nothing is known. */
gpu_use gpu_watch_take(gpu_watch *w);

/* Ends it and tells what was read since then. NULL is fine: nothing is known. */
gpu_use gpu_watch_end(gpu_watch *w);

#endif
