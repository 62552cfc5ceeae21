/* energy.h - energy that the processor packages took, from counters that Linux shows (RAPL). */
#ifndef GRADUS_ENERGY_H
#define GRADUS_ENERGY_H

#include <stdbool.h>

enum { MOST_PACKAGES = 16 };

typedef struct {
    int n; /* packages; 0: none can be read, as where only root may */
    char path[MOST_PACKAGES][160];
    double last[MOST_PACKAGES], range[MOST_PACKAGES]; /* microjoules; a counter begins again behind its range */
} energy;

/* Finds the packages below a folder, which on Linux is /sys/class/powercap. */
energy energy_open(const char *folder);

/* Joules since the last call, or since the opening; all programs' together. NAN: none can be read. */
double energy_take(energy *e);

#endif
