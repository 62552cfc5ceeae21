/* test_verdict.c - what a run is told about its time: only what would help is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "examples/gradus/train/verdict.h"

static void says(const gr_time_use *t, const verdict_facts *f, const char *want)
{
    char text[256];
    assert_string_equal(verdict(t, f, text, sizeof text), want);
}

static void computing_is_no_complaint(void **state)
{
    (void)state;
    const verdict_facts f = {.cpus = 4, .late = true};
    says(&(gr_time_use){.wait = 2, .copy = 1, .compute = 90, .evaluate = 7}, &f, "97 % of the time computing");
    says(&(gr_time_use){0}, &f, "");
}

static void waiting_for_decoding(void **state)
{
    (void)state;
    const gr_time_use t = {.wait = 62, .compute = 38, .making = 90, .reading = 5};
    says(&t, &(verdict_facts){.cpus = 4, .apart = true, .workers = 1, .prefetch = 2, .late = true},
         "62 % of the time waiting for decoding: --workers 4 or --preload ram");
    /* all processors decode already; no worker would make it faster */
    says(&t, &(verdict_facts){.cpus = 1, .apart = true, .workers = 1, .prefetch = 2, .late = true},
         "62 % of the time waiting for decoding: --preload ram");
    /* they would only take the processors from the training */
    says(&t, &(verdict_facts){.cpus = 4, .late = true}, "62 % of the time waiting for decoding: --preload ram");
}

static void waiting_for_storage(void **state)
{
    (void)state;
    says(&(gr_time_use){.wait = 50, .compute = 50, .making = 95, .reading = 80},
         &(verdict_facts){.cpus = 2, .apart = true, .workers = 2, .prefetch = 2, .late = true},
         "50 % of the time waiting for files to be read: faster storage or --prefetch 4 or --preload ram");
    says(&(gr_time_use){.wait = 50, .compute = 50, .making = 195, .reading = 180},
         &(verdict_facts){.cpus = 2, .apart = true, .workers = 2, .prefetch = 2, .late = true},
         "50 % of the time waiting for files to be read: faster storage or --workers 4 or --preload ram");
}

/* The workers are idle most of the time, and yet a batch is late: the ring is too short. */
static void waiting_for_a_short_ring(void **state)
{
    (void)state;
    says(&(gr_time_use){.wait = 20, .compute = 80, .making = 100},
         &(verdict_facts){.cpus = 4, .apart = true, .workers = 4, .prefetch = 2, .late = true},
         "20 % of the time waiting for decoding: --prefetch 4 or --preload ram");
}

static void gathering_and_copying(void **state)
{
    (void)state;
    says(&(gr_time_use){.wait = 15, .copy = 20, .compute = 65, .making = 100},
         &(verdict_facts){.cpus = 2, .apart = true, .workers = 1, .prefetch = 2},
         "15 % of the time waiting for batches to be gathered: --workers 2 or --preload device; 20 % of the time "
         "copying "
         "batches: --preload device");
    says(&(gr_time_use){.wait = 1, .copy = 20, .compute = 79},
         &(verdict_facts){.cpus = 2, .apart = true, .on_device = true}, "20 % of the time copying batches");
}

static void evaluating(void **state)
{
    (void)state;
    says(&(gr_time_use){.compute = 60, .evaluate = 40}, &(verdict_facts){.cpus = 2},
         "40 % of the time evaluating: --no-evaluation");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computing_is_no_complaint), cmocka_unit_test(waiting_for_decoding),
        cmocka_unit_test(waiting_for_storage),       cmocka_unit_test(waiting_for_a_short_ring),
        cmocka_unit_test(gathering_and_copying),     cmocka_unit_test(evaluating),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
