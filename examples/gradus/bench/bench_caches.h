/* bench_caches.h - how large the caches of this machine are, as far as the system tells. */
#ifndef GRADUS_BENCH_CACHES_H
#define GRADUS_BENCH_CACHES_H

#include <stdint.h>

/* Where operands of so many bytes lie that several threads share: "L1", "L2", "L3" or "memory". */
const char *cache_holding(int64_t bytes, int threads);

/* Bytes to read so that nothing of before is left in the caches: twice the largest, 64 MiB to 1 GiB. */
int64_t caches_to_fill(void);

#endif
