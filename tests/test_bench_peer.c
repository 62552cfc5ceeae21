/* test_bench_peer.c - a program that is asked things: answers, numbers behind them, and all the ways to give none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "examples/gradus/bench/bench_peer.h"
#include "examples/gradus/terminal/system.h"

/* Seconds: that nothing needs which answers; of what does not. */
static const double patient = 60, impatient = 0.3;

static bench_peer start(const char *script, double limit)
{
    bench_peer p;
    char *const words[] = {"sh", "-c", (char *)script, NULL};
    assert_true(peer_start(&p, words, limit));
    return p;
}

/* Asks and is answered. NULL: why tells. */
static json_t *ask(bench_peer *p)
{
    return peer_ask(p, json_pack("{s:i}", "number", 7)) ? peer_answer(p) : NULL;
}

static void an_answer_and_numbers_behind_it(void **state)
{
    (void)state;
    bench_peer p = start("cat", patient);
    static char sent[1 << 18], got[1 << 18]; /* more than a pipe holds */
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (char)(i * 7);
    json_t *o = ask(&p);
    assert_int_equal(json_integer_value(json_object_get(o, "number")), 7);
    json_decref(o);
    for (size_t at = 0; at < sizeof sent; at += sizeof sent / 8) {
        assert_true(peer_send(&p, sent + at, sizeof sent / 8));
        assert_true(peer_receive(&p, got + at, sizeof sent / 8));
    }
    assert_memory_equal(sent, got, sizeof sent);
    peer_stop(&p);
}

static void refusals(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"read x; echo '{\"error\": \"no such thing\"}'", "no such thing"},
        {"read x; exit 1", "it has ended without an answer"},
        {"exec <&-; exit 0", "it has ended without an answer"},
        {"read x; echo nonsense", "its answer is no JSON: nonsense"},
        {"read x; exec tr '\\0' x </dev/zero", "its answer has no end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_peer p = start(cases[i][0], patient);
        assert_null(ask(&p));
        assert_string_equal(p.why, cases[i][1]);
        peer_stop(&p);
    }
}

static void it_may_not_take_for_ever(void **state)
{
    (void)state;
    const double begin = now_seconds();
    bench_peer p = start("exec sleep 100", impatient);
    assert_null(ask(&p));
    assert_non_null(strstr(p.why, "no answer within"));
    peer_stop(&p);
    static char much[1 << 20];
    p = start("exec sleep 100", impatient);
    assert_true(peer_ask(&p, json_object()));
    assert_false(peer_send(&p, much, sizeof much)); /* which nobody reads */
    assert_non_null(strstr(p.why, "no answer within"));
    peer_stop(&p);
    assert_true(now_seconds() - begin < 20);
}

static void a_program_that_is_not_there(void **state)
{
    (void)state;
    bench_peer p;
    char *const words[] = {"/nowhere/python", NULL};
    assert_true(peer_start(&p, words, patient));
    assert_null(ask(&p));
    assert_true(strstr(p.why, "/nowhere/python cannot be run") || strstr(p.why, "ended"));
    peer_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_and_numbers_behind_it),
        cmocka_unit_test(refusals),
        cmocka_unit_test(it_may_not_take_for_ever),
        cmocka_unit_test(a_program_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
