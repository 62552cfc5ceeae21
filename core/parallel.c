/* parallel.c - the thread pool behind gr_parallel_for. */
#include "core/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/float_mode.h"
#include "core/op.h"

/*
 * How often a waiting thread looks before it goes to sleep: some 20 microseconds, longer than the pause between two
 * kernels of a step, far shorter than a time slice.
 */
enum { SPINS = 2000 };

typedef struct {
    gr_pool *pool;
    int index; /* 1 .. threads-1; the caller is 0 */
    pthread_t thread;
} worker;

struct gr_pool {
    int threads;
    worker *workers;

    gr_chunk_fn fn; /* the job: written before round is advanced, read after it is seen to have advanced */
    void *arg;
    int64_t chunks;
    bool stop;

    _Atomic unsigned round; /* number of the newest job */
    _Atomic int unfinished; /* workers that still have chunks of it */
    _Atomic int asleep;     /* threads that wait on wake */
    pthread_mutex_t mutex;
    pthread_cond_t wake; /* broadcast when round advances or unfinished reaches 0 and somebody sleeps */
    int spins;
};

static void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

int gr__usable_cpus(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? n : 1;
}

static void run_share(const gr_pool *pool, int index)
{
    int64_t begin = pool->chunks * index / pool->threads, end = pool->chunks * (index + 1) / pool->threads;
    for (int64_t chunk = begin; chunk < end; chunk++)
        pool->fn(pool->arg, chunk);
}

typedef bool (*condition)(gr_pool *pool, unsigned seen);

static bool round_began(gr_pool *pool, unsigned seen)
{
    return atomic_load(&pool->round) != seen;
}

static bool round_done(gr_pool *pool, unsigned seen)
{
    (void)seen;
    return atomic_load(&pool->unfinished) == 0;
}

/* Waits for a condition: first looking, then sleeping. */
static void wait_for(gr_pool *pool, condition holds, unsigned seen)
{
    for (int i = 0; i < pool->spins; i++) {
        if (holds(pool, seen))
            return;
        cpu_relax();
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->asleep, 1); /* before the last look: whoever makes it true sees us, or we see it */
    while (!holds(pool, seen))
        pthread_cond_wait(&pool->wake, &pool->mutex);
    atomic_fetch_sub(&pool->asleep, 1);
    pthread_mutex_unlock(&pool->mutex);
}

/* Wakes sleepers, if there are any: no system call while everybody spins. */
static void wake_workers(gr_pool *pool)
{
    if (atomic_load(&pool->asleep) == 0)
        return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static void *work(void *arg)
{
    worker *w = arg;
    gr_pool *pool = w->pool;
    gr__float_mode_begin();
    for (unsigned seen = 0;; seen++) {
        wait_for(pool, round_began, seen);
        if (pool->stop)
            return NULL;
        run_share(pool, w->index);
        if (atomic_fetch_sub(&pool->unfinished, 1) == 1)
            wake_workers(pool);
    }
}

static void start_round(gr_pool *pool)
{
    atomic_store(&pool->unfinished, pool->threads - 1);
    atomic_fetch_add(&pool->round, 1);
    wake_workers(pool);
}

gr_pool *gr__pool_open(int threads)
{
    gr_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->threads = 1;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    /* With more threads than processors a spinning thread keeps a working one from running: sleep at once. */
    pool->spins = threads <= gr__usable_cpus() ? SPINS : 1;
    pool->workers = calloc((size_t)threads, sizeof *pool->workers);
    for (int i = 1; pool->workers && i < threads; i++) {
        pool->workers[i] = (worker){.pool = pool, .index = i};
        if (pthread_create(&pool->workers[i].thread, NULL, work, &pool->workers[i]) != 0)
            break;
        pool->threads = i + 1;
    }
    if (pool->workers && pool->threads == (threads > 1 ? threads : 1))
        return pool;
    gr__pool_close(pool);
    return NULL;
}

void gr__pool_close(gr_pool *pool)
{
    if (!pool)
        return;
    pool->stop = true;
    start_round(pool);
    for (int i = 1; i < pool->threads; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->wake);
    free(pool->workers);
    free(pool);
}

int gr__pool_threads(const gr_pool *pool)
{
    return pool ? pool->threads : 1;
}

void gr_parallel_for(const struct gr_exec *exec, int64_t chunks, gr_chunk_fn fn, void *arg)
{
    gr_pool *pool = exec->pool;
    if (!pool) {
        for (int64_t chunk = 0; chunk < chunks; chunk++)
            fn(arg, chunk);
        return;
    }
    const uint64_t mode = gr__float_mode_begin();
    pool->fn = fn;
    pool->arg = arg;
    pool->chunks = chunks;
    if (pool->threads == 1 || chunks <= 1) {
        for (int64_t chunk = 0; chunk < chunks; chunk++)
            fn(arg, chunk);
    } else {
        start_round(pool);
        run_share(pool, 0);
        wait_for(pool, round_done, 0);
    }
    gr__float_mode_end(mode);
}
