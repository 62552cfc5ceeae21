/*
 * parallel.c - the thread pool behind gr_parallel_for.
 *
 * Every thread has a share of a job's chunks, the same one each time: what it needs may still lie in its cache. Who is
 * through with its own takes over what others have not begun. So a job waits neither for a worker that sleeps nor for
 * one whose processor another program has got, but for chunks under way alone.
 */
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

enum { STACK = 1 << 20 /* bytes that kernels' blocks may take of it, at most */, PAGE = 4096 };

typedef struct {
    gr_pool *pool;
    int index; /* 1 .. threads-1; the caller is 0 */
    pthread_t thread;
} worker;

/* What nobody has begun of a thread's share; below 0: more have asked. A cache line each. */
typedef struct {
    _Alignas(64) _Atomic int64_t left;
} share;

struct gr_pool {
    int threads;
    worker *workers;
    share *shares;

    gr_chunk_fn fn; /* the job: written before its shares, read by who has taken a chunk of one */
    void *arg;
    int64_t chunks;

    _Atomic bool stop;
    _Atomic unsigned round;     /* number of the newest job */
    _Atomic int64_t unfinished; /* chunks of it */
    _Atomic int asleep;         /* threads that wait on wake */
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

/* Where the share of a thread ends and the next one's begins. */
static int64_t share_end(const gr_pool *pool, int index)
{
    return pool->chunks * (index + 1) / pool->threads;
}

/*
 * Does what is left of a share; returns how many chunks. A chunk that was taken holds the job up until it is counted as
 * finished, so the job cannot change under it: who comes too late for one job takes part in the next.
 */
static int64_t run_share(gr_pool *pool, int index)
{
    int64_t done = 0;
    for (int64_t left; (left = atomic_fetch_sub(&pool->shares[index].left, 1)) > 0; done++)
        pool->fn(pool->arg, share_end(pool, index) - left);
    return done;
}

/* Does what is left of all shares, a thread's own first. True: with this the job is finished. */
static bool run_shares(gr_pool *pool, int index)
{
    int64_t done = 0;
    for (int i = 0; i < pool->threads; i++)
        done += run_share(pool, (index + i) % pool->threads);
    return done > 0 && atomic_fetch_sub(&pool->unfinished, done) == done;
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
static void wake_sleepers(gr_pool *pool)
{
    if (atomic_load(&pool->asleep) == 0)
        return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

/* Takes the pages of this thread's stack now, which would else be taken within the first update. */
static __attribute__((noinline)) void touch_stack(void)
{
    volatile char room[STACK];
    for (size_t i = 0; i < sizeof room; i += PAGE)
        room[i] = 0;
}

static void *work(void *arg)
{
    worker *w = arg;
    gr_pool *pool = w->pool;
    gr__float_mode_begin();
    touch_stack();
    for (unsigned seen = 0;;) {
        wait_for(pool, round_began, seen);
        seen = atomic_load(&pool->round); /* others may have finished several jobs since */
        if (atomic_load(&pool->stop))
            return NULL;
        if (run_shares(pool, w->index))
            wake_sleepers(pool);
    }
}

static void start_round(gr_pool *pool)
{
    atomic_fetch_add(&pool->round, 1);
    wake_sleepers(pool);
}

static void hand_out(gr_pool *pool, int64_t chunks, gr_chunk_fn fn, void *arg)
{
    pool->fn = fn;
    pool->arg = arg;
    pool->chunks = chunks;
    atomic_store(&pool->unfinished, chunks);
    for (int i = 0; i < pool->threads; i++)
        atomic_store(&pool->shares[i].left, share_end(pool, i) - share_end(pool, i - 1));
    start_round(pool);
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
    pool->shares = aligned_alloc(sizeof *pool->shares, (size_t)threads * sizeof *pool->shares);
    for (int i = 0; pool->shares && i < threads; i++)
        atomic_init(&pool->shares[i].left, 0);
    for (int i = 1; pool->workers && pool->shares && i < threads; i++) {
        pool->workers[i] = (worker){.pool = pool, .index = i};
        if (pthread_create(&pool->workers[i].thread, NULL, work, &pool->workers[i]) != 0)
            break;
        pool->threads = i + 1;
    }
    touch_stack();
    if (pool->workers && pool->shares && pool->threads == (threads > 1 ? threads : 1))
        return pool;
    gr__pool_close(pool);
    return NULL;
}

void gr__pool_close(gr_pool *pool)
{
    if (!pool)
        return;
    atomic_store(&pool->stop, true);
    start_round(pool);
    for (int i = 1; i < pool->threads; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->wake);
    free(pool->shares);
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
    const uint64_t mode = pool ? gr__float_mode_begin() : 0;
    if (pool && pool->threads > 1 && chunks > 1) {
        hand_out(pool, chunks, fn, arg);
        if (!run_shares(pool, 0))
            wait_for(pool, round_done, 0);
    } else {
        for (int64_t chunk = 0; chunk < chunks; chunk++)
            fn(arg, chunk);
    }
    if (pool)
        gr__float_mode_end(mode);
}
