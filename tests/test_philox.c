/* test_philox.c - the generator against published values, and what is built on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core/philox.h"

/* Known answers of Philox4x32-10, from the file kat_vectors of the authors' library Random123. */
static void known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } kat[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof kat / sizeof *kat; i++) {
        uint32_t out[4];
        gr__philox(kat[i].counter, kat[i].key, out);
        assert_memory_equal(out, kat[i].out, sizeof out);
    }
}

static void streams_differ(void **state)
{
    (void)state;
    uint32_t base = gr__random_bits(1, GR_RNG_INIT, 0, 0);
    assert_int_not_equal(base, gr__random_bits(2, GR_RNG_INIT, 0, 0));
    assert_int_not_equal(base, gr__random_bits(1, GR_RNG_SHUFFLE, 0, 0));
    assert_int_not_equal(base, gr__random_bits(1, GR_RNG_INIT, 1, 0));
    assert_int_not_equal(base, gr__random_bits(1, GR_RNG_INIT, 0, 1));
    assert_int_not_equal(base, gr__random_bits(1, GR_RNG_INIT, 0, 1ull << 34));
}

static void uniform_is_uniform(void **state)
{
    (void)state;
    enum { N = 100000, BINS = 10 };
    int bins[BINS] = {0};
    for (uint64_t i = 0; i < N; i++) {
        float u = gr__random_uniform(7, GR_RNG_PROCEDURAL, 3, i);
        assert_true(u >= 0 && u < 1);
        bins[(int)(u * BINS)]++;
    }
    for (int i = 0; i < BINS; i++) /* five standard deviations of a binomial count */
        assert_in_range(bins[i], N / BINS - 475, N / BINS + 475);
}

static void orders_are_permutations(void **state)
{
    (void)state;
    enum { N = 1000 };
    int64_t a[N], b[N];
    char seen[N] = {0};
    gr__random_order(1, GR_RNG_SHUFFLE, 1, N, a);
    gr__random_order(1, GR_RNG_SHUFFLE, 2, N, b);
    int same = 0, fixed = 0;
    for (int i = 0; i < N; i++) {
        assert_in_range(a[i], 0, N - 1);
        assert_false(seen[a[i]]++);
        same += a[i] == b[i];
        fixed += a[i] == i;
    }
    assert_in_range(same, 0, 10); /* 1 expected */
    assert_in_range(fixed, 0, 10);
    gr__random_order(1, GR_RNG_SHUFFLE, 1, N, b);
    assert_memory_equal(a, b, sizeof a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(streams_differ),
        cmocka_unit_test(uniform_is_uniform),
        cmocka_unit_test(orders_are_permutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
