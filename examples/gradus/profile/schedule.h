/* schedule.h - which updates of a run are recorded: "wait=1,warmup=1,active=3,repeat=2". */
#ifndef GRADUS_PROFILE_SCHEDULE_H
#define GRADUS_PROFILE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* So many updates without the trace, with it but not kept, and kept; and that so many times. */
typedef struct {
    int64_t wait, warmup, active, repeat;
} schedule;

typedef enum { PHASE_WAIT, PHASE_WARM_UP, PHASE_ACTIVE } phase;

/* Reads a schedule; what text does not name is 1, 1, 3 and 1. Returns 0 or an exit code, complained of. */
int schedule_read(const char *text, schedule *s, const char *command);

int64_t schedule_updates(const schedule *s);
phase schedule_phase(const schedule *s, int64_t update); /* update: from 0 */

#endif
