/*
 * parallel.h - the only way to use several CPU threads: gr_parallel_for.
 *
 * The caller cuts the work into chunks by the shapes alone, never by the number of threads, so the bits of a result do
 * not depend on how many threads there are. Worker i of n begins with chunks [chunks*i/n, chunks*(i+1)/n), in their
 * order, and then takes over what others have not begun. Workers spin briefly for the next job and then sleep. All
 * chunks of a pool, the caller's too, compute in the mode of float_mode.h.
 */
#ifndef GRADUS_PARALLEL_H
#define GRADUS_PARALLEL_H

#include <stdint.h>

typedef struct gr_pool gr_pool;

/* A pool of threads workers, the caller being one of them. NULL: the system gives no more memory or threads. */
gr_pool *gr__pool_open(int threads);
void gr__pool_close(gr_pool *pool); /* NULL is fine */
int gr__pool_threads(const gr_pool *pool);

/* Processors this process may use (its affinity mask), at least 1. */
int gr__usable_cpus(void);

typedef void (*gr_chunk_fn)(void *arg, int64_t chunk);

struct gr_exec;

/* Calls fn(arg, chunk) for every chunk in 0..chunks-1 and returns when all are done. fn must not call it again. */
void gr_parallel_for(const struct gr_exec *exec, int64_t chunks, gr_chunk_fn fn, void *arg);

#endif
