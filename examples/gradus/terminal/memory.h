/* memory.h - how much memory there is for this process, by whom it is bounded, and how much the process has taken. */
#ifndef GRADUS_TOOL_MEMORY_H
#define GRADUS_TOOL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that programs can still take; INT64_MAX: not known. */
int64_t memory_of_host(void);

/*
 * Bytes that the control groups of this process, version 2 or 1, still allow: the least of its own group and of those
 * above it. What a group holds of files that nobody uses counts as free. INT64_MAX: no limit. root stands before every
 * path that is read: "".
 */
int64_t memory_of_cgroup(const char *root);

int64_t memory_available(void); /* the smaller of the two */

/* Bytes that this process holds now, and the most since memory_peak_restart. -1: the system does not tell. */
int64_t memory_resident(void);
int64_t memory_peak(void);
bool memory_peak_restart(void); /* false: the system does not do that, the peak is the whole life's */

#endif
