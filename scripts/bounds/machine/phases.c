#include "phases.h"

#include <math.h>

struct phase_barrier *find_phases(struct phases *phases, uint64_t address)
{
    for (int i = 0; i < phases->count; i++)
        if (phases->at[i].address == address)
            return &phases->at[i];
    return NULL;
}

bool begin_phases(struct phases *phases, uint64_t address, int arrivals)
{
    struct phase_barrier *barrier = find_phases(phases, address);
    if (!barrier && phases->count == PHASE_BARRIERS)
        return false;
    if (!barrier)
        barrier = &phases->at[phases->count++];
    *barrier = (struct phase_barrier){.address = address, .arrivals = arrivals, .pending = arrivals};
    return true;
}

bool count_phase(struct phase_barrier *barrier, int arrivals, int64_t bytes, double when)
{
    barrier->pending -= arrivals;
    barrier->bytes += bytes;
    barrier->latest = fmax(barrier->latest, when);
    if (barrier->pending > 0 || barrier->bytes != 0)
        return false;
    barrier->over[barrier->phase++ % 2] = barrier->latest;
    barrier->pending = barrier->arrivals;
    return true;
}

bool phase_is_over(const struct phase_barrier *barrier, int parity)
{
    return (int)(barrier->phase % 2) != parity;
}
