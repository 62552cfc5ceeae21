/* figures.h - what publications give: the lines of examples/published.csv. */
#ifndef GRADUS_FIGURES_H
#define GRADUS_FIGURES_H

#include "reproduce/experiment.h"

enum { FIGURES_MAX = 16 };

typedef struct {
    int64_t batch;
    double value;
    bool approximate; /* "around 62" */
} figure;

/* The figures of a series, in the order of the file. Returns how many; -1: the file cannot be read, complained of. */
int figures_read(const figures *wanted, figure list[FIGURES_MAX]);

#endif
