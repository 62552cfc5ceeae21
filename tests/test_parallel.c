/*
 * test_parallel.c - every chunk exactly once, whatever the threads; more threads than processors; what one thread has
 * not begun another takes over; pools side by side; stacks whose pages are there before the first job.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "core/op.h"
#include "core/parallel.h"

enum { MOST = 1000 };

typedef struct {
    _Atomic int done[MOST];
} tally;

static void count(void *arg, int64_t chunk)
{
    tally *t = arg;
    atomic_fetch_add(&t->done[chunk], 1);
}

static void run_and_check(gr_pool *pool, int64_t chunks)
{
    tally *t = calloc(1, sizeof *t);
    gr_parallel_for(&(gr_exec){.pool = pool}, chunks, count, t);
    for (int64_t i = 0; i < MOST; i++)
        assert_int_equal(t->done[i], i < chunks);
    free(t);
}

static void every_chunk_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 17; threads += threads < 5 ? 1 : 6) {
        gr_pool *pool = gr__pool_open(threads);
        assert_non_null(pool);
        assert_int_equal(gr__pool_threads(pool), threads);
        for (int64_t chunks = 0; chunks <= 40; chunks++)
            run_and_check(pool, chunks);
        run_and_check(pool, MOST);
        gr__pool_close(pool);
    }
    run_and_check(NULL, MOST); /* no pool: the caller does it all */
}

static void sleepers_wake(void **state)
{
    (void)state;
    gr_pool *pool = gr__pool_open(2);
    for (int i = 0; i < 20; i++) { /* longer than any spinning */
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        run_and_check(pool, 7);
    }
    gr__pool_close(pool);
}

static void many_small_jobs(void **state)
{
    (void)state;
    gr_pool *pool = gr__pool_open(2), *crowd = gr__pool_open(16);
    for (int i = 0; i < 2000; i++)
        run_and_check(i % 10 ? pool : crowd, i % 5);
    gr__pool_close(pool);
    gr__pool_close(crowd);
}

typedef struct {
    _Atomic bool done[4];
    _Atomic bool given_up;
} chain;

/* Of four chunks for two threads the second half is the worker's: its first waits for its second. */
static void third_waits_for_fourth(void *arg, int64_t chunk)
{
    chain *c = arg;
    for (int i = 0; chunk == 2 && !c->done[3] && !c->given_up; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (i == 10000)
            c->given_up = true;
    }
    c->done[chunk] = true;
}

static void others_take_over(void **state)
{
    (void)state;
    gr_pool *pool = gr__pool_open(2);
    for (int i = 0; i < 20; i++) {
        chain c = {0};
        gr_parallel_for(&(gr_exec){.pool = pool}, 4, third_waits_for_fourth, &c);
        assert_false(c.given_up);
        assert_true(c.done[0] && c.done[1] && c.done[2] && c.done[3]);
    }
    gr__pool_close(pool);
}

static void *side_by_side(void *failed)
{
    gr_pool *pool = gr__pool_open(3);
    tally *t = calloc(1, sizeof *t);
    for (int i = 0; i < 200; i++)
        gr_parallel_for(&(gr_exec){.pool = pool}, MOST, count, t);
    for (int i = 0; i < MOST; i++)
        if (t->done[i] != 200)
            *(_Atomic int *)failed = 1;
    free(t);
    gr__pool_close(pool);
    return NULL;
}

static void pools_do_not_mix(void **state)
{
    (void)state;
    pthread_t threads[4];
    _Atomic int failed = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, side_by_side, &failed), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failed, 0);
}

enum { USERS = 3 };

typedef struct {
    _Atomic int begun;
    long faults[USERS];
} stack_use;

/* Takes a block as large as the largest kernels' and counts the page faults; each chunk has a thread of its own. */
static void use_stack(void *arg, int64_t chunk)
{
    stack_use *u = arg;
    struct rusage before, after;
    atomic_fetch_add(&u->begun, 1);
    for (int i = 0; u->begun < USERS && i < 10000; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    getrusage(RUSAGE_THREAD, &before);
    volatile char room[900 << 10];
    for (size_t i = 0; i < sizeof room; i += 4096)
        room[i] = 1;
    getrusage(RUSAGE_THREAD, &after);
    u->faults[chunk] = after.ru_minflt - before.ru_minflt;
}

static void stacks_are_there(void **state)
{
    (void)state;
    enum { FEW = 50 /* of 225 pages; a sanitizer takes some to keep watch */ };
    stack_use u = {0};
    gr_pool *pool = gr__pool_open(USERS);
    gr_parallel_for(&(gr_exec){.pool = pool}, USERS, use_stack, &u);
    assert_int_equal(u.begun, USERS);
    for (int i = 0; i < USERS; i++)
        assert_in_range(u.faults[i], 0, FEW);
    gr__pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunk_once), cmocka_unit_test(sleepers_wake),    cmocka_unit_test(many_small_jobs),
        cmocka_unit_test(others_take_over), cmocka_unit_test(pools_do_not_mix), cmocka_unit_test(stacks_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
