/* test_gpu_watch.c - the readings of a GPU against a library that stands in for NVIDIA's and tells known numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "examples/gradus/train/gpu_watch.h"

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static void it_averages_what_the_library_tells(void **state)
{
    (void)state;
    gpu_watch *w = gpu_watch_begin(0);
    assert_non_null(w);
    sleep_ms(450);
    gpu_use use = gpu_watch_end(w);
    assert_in_range(use.readings, 2, 6); /* ten a second */
    /* tests/fake_nvml.c: reading i tells 10 i %, 1000 + i bytes, 100 + i watts */
    double mean = (double)(use.readings - 1) / 2;
    assert_true(use.utilisation == 10 * mean && use.power == 100 + mean);
    assert_int_equal(use.memory_bytes, 1000 + use.readings - 1);
}

static void what_was_read_is_taken_once(void **state)
{
    (void)state;
    gpu_watch *w = gpu_watch_begin(0);
    sleep_ms(250);
    const gpu_use first = gpu_watch_take(w);
    assert_in_range(first.readings, 1, 4);
    assert_int_equal(first.memory_bytes, 1000 + first.readings - 1);
    sleep_ms(250);
    const gpu_use rest = gpu_watch_end(w); /* its readings go on where the first ended */
    assert_in_range(rest.readings, 1, 5);
    assert_true(rest.power == 100 + (double)first.readings + (double)(rest.readings - 1) / 2);
    assert_int_equal(gpu_watch_take(NULL).readings, 0);
}

static void a_gpu_that_is_not_there_is_not_watched(void **state)
{
    (void)state;
    assert_null(gpu_watch_begin(1));
    assert_int_equal(gpu_watch_end(NULL).readings, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_averages_what_the_library_tells),
        cmocka_unit_test(what_was_read_is_taken_once),
        cmocka_unit_test(a_gpu_that_is_not_there_is_not_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
