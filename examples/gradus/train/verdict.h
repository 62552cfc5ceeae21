/*
 * verdict.h - what held a run up, in words, and what would help: only what would.
 */
#ifndef GRADUS_TOOL_VERDICT_H
#define GRADUS_TOOL_VERDICT_H

#include "gradus.h"

typedef struct {
    int cpus;              /* that this process may use */
    bool apart;            /* a GPU computes, and leaves them alone */
    int workers, prefetch; /* as they were; workers 0: batches were made by the threads that compute */
    bool late, on_device;  /* --preload none, device */
} verdict_facts;

/*
 * "62 % of the time waiting for decoding: --workers 4 or --preload ram". Returns text; "" when there is nothing to
 * tell.
 */
const char *verdict(const gr_time_use *t, const verdict_facts *facts, char *text, size_t size);

#endif
