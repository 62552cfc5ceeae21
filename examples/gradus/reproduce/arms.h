/* arms.h - the arms of an experiment at work: sweeps, and commands for each seed. */
#ifndef GRADUS_ARMS_H
#define GRADUS_ARMS_H

#include "reproduce/experiment.h"
#include "sweep/sweep.h"

/* What gradus reproduce was asked. */
typedef struct {
    settings shared; /* the machine, device */
    const char *out;
    int64_t seeds, updates, jobs;
    bool dry_run, verdict, json;
} reproduce_asks;

/*
 * Runs what is missing of an arm; with --dry-run tells how much that is, and adds its seconds to *left. Returns 0 or an
 * exit code.
 */
int arm_do(const experiment *e, const arm *a, const reproduce_asks *asks, double *left);

#endif
