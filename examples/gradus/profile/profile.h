/* profile.h - a profile as the command writes it, prints it and compares it with another. */
#ifndef GRADUS_PROFILE_H
#define GRADUS_PROFILE_H

#include <jansson.h>

#include "profile/recorder.h"
#include "settings/resolved.h"

/* What is to be said of a profile beside what was recorded. */
typedef struct {
    const resolved *run;
    const recorder *record;
    gr_ceilings ceilings;
    const char *device, *isa, *precision, *schedule;
    int threads;
    bool memory, stack; /* as asked for */
} profile;

/*
 * {"recipe", "batch", ..., "updates", "ms", "error_ms", "convolutions" (their share), "operations": [{"op", "pass",
 * "calls", "ms", "error_ms", "share", "gflop", "gflops", "gigabytes", "gbs", "limit"}], "modules" (with stack),
 * "loading_ms" (timed by the device), "peak_bytes", "peak_at"}; times are those of one update. A new reference.
 */
json_t *profile_json(const profile *p);

/* Prints a profile that profile_json made, longest times first. */
void profile_print(const json_t *o);

/* Writes the events for a viewer (Chrome's format, which Perfetto reads), in at most so many bytes. */
int profile_write_trace(const profile *p, int64_t limit, const char *path, const char *command);

/* Writes "pass;part;of;the;module;operation microseconds" for each call: what flame graphs are drawn from. */
int profile_write_stacks(const profile *p, const char *path, const char *command);

/* The profile in a folder, a new reference. Returns 0 or an exit code, complained of. */
int profile_read(const char *folder, const char *command, json_t **of);

/* Prints what became slower or faster from profile a to b, of two folders. Returns 0 or an exit code, complained of. */
int profile_compare(const char *a, const char *b, bool json, const char *command);

#endif
