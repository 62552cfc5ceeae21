/* bench_counters.h - what gradus bench --counters shows of a CUDA kernel that the emulator has run. */
#ifndef GRADUS_BENCH_COUNTERS_H
#define GRADUS_BENCH_COUNTERS_H

#include <jansson.h>

#include <gradus.h>

void counters_print_heading(void);
void counters_print(const char *batch, const char *pass, const gr_counters *c);
void counters_print_legend(void);

/* The same as an object, a new reference. */
json_t *counters_json(const gr_counters *c);

#endif
