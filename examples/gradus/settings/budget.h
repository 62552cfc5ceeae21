/* budget.h - what a run may spend: epochs, updates, samples or seconds. */
#ifndef GRADUS_BUDGET_H
#define GRADUS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* One of them is above 0. */
typedef struct {
    int64_t epochs, updates, samples;
    double seconds; /* of training, evaluation left out */
} run_budget;

/* "samples=64000". False: it is none. */
bool read_budget(const char *text, run_budget *b);

#endif
