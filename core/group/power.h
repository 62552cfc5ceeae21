/* power.h - numbers of ranks and of shards. */
#ifndef GRADUS_POWER_H
#define GRADUS_POWER_H

#include <stdbool.h>
#include <stdint.h>

static inline bool gr__is_power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

#endif
