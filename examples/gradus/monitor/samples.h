/* samples.h - what a program took while it was watched: a sample once an interval, and all of them together. */
#ifndef GRADUS_MONITOR_SAMPLES_H
#define GRADUS_MONITOR_SAMPLES_H

#include <stdio.h>
#include <sys/types.h>

#include "monitor/gpu_query.h"
#include "monitor/tree.h"
#include "train/energy.h"
#include "train/gpu_watch.h"

typedef struct {
    double seconds; /* since the start */
    double cores;   /* mean number that were busy since the sample before */
    tree_use use;   /* faults: since the sample before */
    double watts;   /* of the processor packages; NAN: not to be read */
    gpu_use gpu;    /* since the sample before */
} usage_sample;

typedef struct {
    pid_t self; /* whose descendants are watched */
    double begin, last;
    tree_use before;
    energy energy;
    gpu_watch *gpu;   /* NULL: there is none */
    gpu_query *query; /* NULL: not asked for */
    FILE *csv;        /* NULL: none is asked for */
    /* together */
    int n;
    int lost, why;     /* samples that could not be taken; the first one's errno */
    usage_sample most; /* the highest of each */
    double seconds, joules;
    double gpu_readings, gpu_utilisation, gpu_power; /* sums over readings */
    /* of the whole run, by the kernel's own account of processes that ended */
    double cpu_seconds;
    int64_t largest_bytes, minor_faults, major_faults;
} samples;

/* csv and query may be NULL. */
void samples_begin(samples *s, FILE *csv, gpu_query *query);
void samples_take(samples *s);

/* When all processes have ended. */
void samples_end(samples *s);

/* The summary, each number with what it means. */
void samples_print(const samples *s, FILE *f);

/* The same as one line of JSON, with the exit code. */
void samples_print_json(const samples *s, int code, FILE *f);

#endif
