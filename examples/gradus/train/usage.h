/*
 * usage.h - what a run takes of the machine while it trains, and how much of that is the network's own work. Each
 * number is told with its definition.
 */
#ifndef GRADUS_USAGE_H
#define GRADUS_USAGE_H

#include <stdio.h>

#include "settings/resolved.h"
#include "train/energy.h"

/* A number that is not known is NAN, bytes are 0 then. */
typedef struct {
    double cores_busy;      /* processor time of this process by the time on the clock, evaluation with it */
    int64_t resident_bytes; /* most that this process ever had in memory at once, pictures and program with it */
    double cpu_power;       /* watts of the processor packages in that time, whoever used them */
    double model_flops;     /* operations of a sample's forward and backward pass by formula, a second of training */
    double operand_bytes;   /* of every tensor that a kernel needs or makes, once a kernel, a second of training */
    gr_ceilings limits;     /* of this machine, measured before the run; all 0: not asked for */
} usage;

enum { BATCH_KERNELS = 8 /* that make a batch, at most */ };

/* A run that is watched. */
typedef struct {
    energy energy;
    double begin, cpu_begin; /* seconds */
    bool trains, counted;    /* the first update has begun; it is over */
    double bytes;            /* of that update's operands, then of a sample of it */
    struct {
        double begin, bytes;
    } early[BATCH_KERNELS]; /* the last kernels before that update's batch was there: some of them made it */
    int64_t n_early;
} usage_watch;

/*
 * Measures the limits of a run's device, type and threads: a second, in a context of its own, which gives its memory
 * back. Returns 0 or an exit code, complained of.
 */
int usage_limits(const resolved *run, gr_ceilings *limits, const char *command);

void usage_begin(usage_watch *w);                          /* training begins */
void usage_event(usage_watch *w, const gr_trace_event *e); /* of the trace, up to the end of the first update */
void usage_count(usage_watch *w, int64_t samples);         /* that end; so many samples were in it */

/* Training is over, after any number of updates. What the model does is not in it yet. */
usage usage_end(usage_watch *w, const gr_fit_result *result);

/* Adds that, by a dry step of the trained network of ctx. Returns 0 or an exit code, complained of. */
int usage_add_model(usage *u, gr_context *ctx, gr_module *net, const gr_fit_result *result, const char *command);

/* Share of the limit that the network's own operations reach (model-FLOPs utilisation); NAN: not known. */
double usage_mfu(const usage *u);

/* All of it, each number with its definition beside it. */
void usage_print(const usage *u, FILE *f);

#endif
