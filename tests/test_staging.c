/*
 * test_staging.c - data on its way to a device, through streams that run in every order that they may: what arrives is
 * what was sent, and each of the waits is needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernels/cuda/add_to.h"
#include "kernels/devices/staging.h"
#include "kernels/simt/queue.h"

enum { PIECES = 2, COUNT = (GR__PIECE + GR__PIECE / 8) / 4 /* floats: two pieces */, ROUNDS = 5, WINDOW = 64 };
enum { SMALL_COUNT = 1024, SMALL_ROUNDS = 3 * GR__SMALL_ROOM / (4 * SMALL_COUNT) };

/* --- calls, of which one may be missing --------------------------------------------------------------------------- */

typedef enum { NOTHING, ARRIVED, TAKEN, LEFT_PINNED } omission;
static omission left_out;
static void *copies;

static bool stream_wait(void *stream, void *event)
{
    return left_out == (stream == copies ? TAKEN : ARRIVED) || gr__simt_stream_calls.stream_wait(stream, event);
}

static bool host_wait(void *event)
{
    return left_out == LEFT_PINNED || gr__simt_stream_calls.host_wait(event);
}

/* --- uploads between kernels -------------------------------------------------------------------------------------- */

static float sent(int round, int64_t i)
{
    return (float)((i * 7 + round * 31) % 1000);
}

/* Elements of either piece that are added up. */
static const int64_t windows[] = {0, GR__PIECE / 4 - WINDOW / 2, COUNT - WINDOW};

/*
 * rounds uploads of count floats to one place, each added to a sum by a kernel. Whether the sum is right, and no fault.
 */
static bool run(gr_staging *s, int64_t count, int rounds, const int64_t *window, int window_count)
{
    const size_t bytes = (size_t)count * sizeof(float);
    float *dst = gr__simt_alloc(bytes), *sum = gr__simt_alloc(bytes), *host = malloc(bytes);
    bool right = true;
    for (int round = 0; round < rounds; round++) {
        for (int64_t i = 0; i < count; i++)
            host[i] = sent(round, i);
        assert_true(gr__staging_upload(s, dst, host, bytes) || gr__simt_fault());
        memset(host, 0xFF, bytes); /* it has been read */
        for (int w = 0; w < window_count; w++)
            gr__simt_add_to(sum + window[w], dst + window[w], WINDOW, s->compute);
    }
    gr__simt_stream_copy(s->compute, host, sum, bytes);
    gr__simt_stream_wait(s->compute);
    for (int w = 0; w < window_count && right; w++)
        for (int64_t i = window[w]; i < window[w] + WINDOW && right; i++) {
            float expected = 0;
            for (int round = 0; round < rounds; round++)
                expected += sent(round, i);
            right = host[i] == expected;
        }
    gr__simt_free(dst);
    gr__simt_free(sum);
    free(host);
    return right && !gr__simt_fault();
}

/* In one order of the streams; the copy stream is opened before or after the other one. */
static bool run_in_order(gr__simt_order order, uint64_t seed, bool copies_first, omission missing, bool small)
{
    gr_stream_calls calls = gr__simt_stream_calls;
    calls.stream_wait = stream_wait;
    calls.host_wait = host_wait;
    gr__simt_set_order(order, seed);
    gr__simt_stream *first = gr__simt_stream_open(), *second = gr__simt_stream_open();
    gr_staging s = {.calls = &calls, .compute = copies_first ? second : first, .copies = copies_first ? first : second};
    left_out = missing;
    copies = s.copies;
    const bool right = small ? run(&s, SMALL_COUNT, SMALL_ROUNDS, windows, 1) : run(&s, COUNT, ROUNDS, windows, 3);
    gr__simt_wait_for_all();
    gr__staging_close(&s);
    gr__simt_stream_close(first);
    gr__simt_stream_close(second);
    gr__simt_clear_fault();
    gr__simt_set_order(GR__SIMT_FORWARD, 1);
    return right;
}

enum { ORDERS = 8 };

/* The number of orders that show a mistake. */
static int wrong_orders(omission missing, bool small)
{
    int wrong = 0;
    for (int i = 0; i < ORDERS; i++) {
        const gr__simt_order order = i < 2 ? GR__SIMT_FORWARD : i < 4 ? GR__SIMT_REVERSE : GR__SIMT_RANDOM;
        wrong += !run_in_order(order, (uint64_t)i, i % 2, missing, small);
    }
    return wrong;
}

static void what_arrives_was_sent(void **state)
{
    (void)state;
    assert_int_equal(wrong_orders(NOTHING, false), 0);
    assert_int_equal(wrong_orders(NOTHING, true), 0);
}

/* A race is right in some orders; the build that checks accesses reports it in each. */
static void every_wait_is_needed(void **state)
{
    (void)state;
    const int at_least = gr__simt_checks() ? ORDERS : 1;
    assert_true(wrong_orders(ARRIVED, false) >= at_least);
    assert_true(wrong_orders(TAKEN, false) >= at_least);
    assert_int_equal(wrong_orders(LEFT_PINNED, false), ORDERS);
    assert_int_equal(wrong_orders(LEFT_PINNED, true), ORDERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_arrives_was_sent),
        cmocka_unit_test(every_wait_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
