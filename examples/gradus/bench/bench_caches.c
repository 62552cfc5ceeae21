/* bench_caches.c - see bench_caches.h. */
#include "bench/bench_caches.h"

#include <unistd.h>

const char *cache_holding(int64_t bytes, int threads)
{
    if (bytes <= sysconf(_SC_LEVEL1_DCACHE_SIZE) * threads)
        return "L1";
    if (bytes <= sysconf(_SC_LEVEL2_CACHE_SIZE) * threads)
        return "L2";
    return bytes <= sysconf(_SC_LEVEL3_CACHE_SIZE) ? "L3" : "memory";
}

int64_t caches_to_fill(void)
{
    const int64_t least = 64 << 20, most = 1 << 30;
    const int64_t twice = 2 * (int64_t)sysconf(_SC_LEVEL3_CACHE_SIZE);
    return twice < least ? least : twice > most ? most : twice;
}
