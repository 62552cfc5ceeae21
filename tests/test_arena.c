/* test_arena.c - placement in the step's memory: no overlap, exact reuse, the dry run's peak. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>

#include "core/arena.h"
#include "core/philox.h"

enum { SLOTS = 64, ROUNDS = 4000 };

/* A random sequence of takes and gives; writes the offsets of the takes. Checks that live blocks never overlap. */
static void churn(gr_arena *a, uint64_t seed, int64_t *offsets)
{
    gr_block live[SLOTS] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        gr_block *b = &live[gr__random_bits(seed, GR_RNG_PROCEDURAL, 0, 2 * (uint64_t)i) % SLOTS];
        offsets[i] = -1;
        if (b->size) {
            gr__arena_free(a, b);
            b->size = 0;
            continue;
        }
        assert_true(gr__arena_alloc(a, gr__random_bits(seed, GR_RNG_PROCEDURAL, 0, 2 * (uint64_t)i + 1) % 10000, b));
        offsets[i] = b->offset;
        assert_int_equal(b->offset % GR__ALIGN, 0);
        for (int j = 0; j < SLOTS; j++)
            if (&live[j] != b && live[j].size)
                assert_true(live[j].offset + live[j].size <= b->offset || b->offset + b->size <= live[j].offset);
    }
}

static void dry_run_tells_the_peak(void **state)
{
    (void)state;
    static int64_t dry[ROUNDS], real[ROUNDS];
    gr_arena *plan = gr__arena_create(), *arena = gr__arena_create();
    assert_true(gr__arena_add_chunk(plan, NULL, INT64_MAX / 2));
    churn(plan, 1, dry);
    int64_t peak = gr__arena_peak(plan);
    void *memory = malloc((size_t)peak);
    assert_true(gr__arena_add_chunk(arena, memory, peak)); /* not a byte more than planned */
    churn(arena, 1, real);
    assert_memory_equal(dry, real, sizeof dry);
    gr__arena_reset(arena);
    churn(arena, 1, real); /* and again */
    assert_memory_equal(dry, real, sizeof dry);
    free(memory);
    gr__arena_destroy(plan);
    gr__arena_destroy(arena);
}

static void too_large_changes_nothing(void **state)
{
    (void)state;
    gr_arena *a = gr__arena_create();
    gr_block first, second = {0};
    assert_true(gr__arena_add_chunk(a, NULL, 1024));
    assert_true(gr__arena_alloc(a, 1, &first));
    assert_false(gr__arena_alloc(a, 1024, &second));
    assert_false(gr__arena_alloc(a, SIZE_MAX, &second));
    assert_int_equal(second.size, 0);
    assert_true(gr__arena_alloc(a, 768, &second));
    assert_int_equal(second.offset, 256);
    gr__arena_free(a, &first);
    assert_true(gr__arena_alloc(a, 256, &first)); /* the gap in front is found again */
    assert_int_equal(first.offset, 0);
    gr__arena_destroy(a);
}

static void second_chunk_serves(void **state)
{
    (void)state;
    gr_arena *a = gr__arena_create();
    gr_block one, two;
    assert_true(gr__arena_add_chunk(a, NULL, 512));
    assert_true(gr__arena_add_chunk(a, NULL, 2048));
    assert_true(gr__arena_alloc(a, 512, &one));
    assert_true(gr__arena_alloc(a, 600, &two));
    assert_int_equal(two.chunk, 1);
    assert_int_equal(gr__arena_peak(a), 512 + 768);
    gr__arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dry_run_tells_the_peak),
        cmocka_unit_test(too_large_changes_nothing),
        cmocka_unit_test(second_chunk_serves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
