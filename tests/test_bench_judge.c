/* test_bench_judge.c - what gradus bench claims of times: drawn ones, of which the truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdint.h>

#include "examples/gradus/bench/bench_duel.h"
#include "examples/gradus/bench/bench_half.h"
#include "examples/gradus/bench/bench_judge.h"

enum { ROUNDS = 12, TRIALS = 1000, CASES = 20 };

static uint64_t state = 1;

/* Uniform in (0, 1): Knuth's MMIX generator. */
static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

/* Standard normal: Box and Muller 1958. */
static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * acos(-1) * uniform());
}

/* Times of about scale milliseconds; each round off by its own, and now and then one by far more. */
static void draw(double *times, double scale, double noise)
{
    for (int i = 0; i < ROUNDS; i++)
        times[i] = 1e-3 * scale * exp(noise * normal() + (uniform() < 0.05 ? 3 * noise : 0));
}

/* How many of TRIALS comparisons of a process with one that is shift times as slow are decided, and so. */
static int decided_apart(double shift, double drift, int wanted)
{
    int n = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double a[ROUNDS], b[ROUNDS], squares = 0;
        for (int i = 0; i < 3; i++) /* what the limits tell of the drift */
            squares += pow(drift * normal(), 2) / 3;
        draw(a, 1, 0.01);
        draw(b, shift * exp(drift * normal()), 0.01);
        const bench_verdict v = judge_apart((bench_side){a, ROUNDS}, (bench_side){b, ROUNDS}, sqrt(squares), 3);
        int decided;
        assert_true(judge_together(&v, 1, &decided));
        n += decided == wanted;
    }
    return n;
}

static void the_same_is_undecided(void **unused)
{
    (void)unused;
    assert_true(decided_apart(1, 0, VERDICT_UNDECIDED) >= 0.95 * TRIALS);
    assert_true(decided_apart(1, 0.1, VERDICT_UNDECIDED) >= 0.95 * TRIALS);
}

static void three_percent_are_found(void **unused)
{
    (void)unused;
    assert_true(decided_apart(1.03, 0, VERDICT_SLOWER) >= 0.95 * TRIALS);
    assert_true(decided_apart(1 / 1.03, 0, VERDICT_FASTER) >= 0.95 * TRIALS);
    assert_int_equal(decided_apart(1.03, 0, VERDICT_FASTER), 0);
    assert_true(decided_apart(1.03, 0.1, VERDICT_UNDECIDED) >= 0.95 * TRIALS); /* a machine that drifts by 10 % */
}

/* In turns both sides have the machine's walk in common, which is far wider than the difference. */
static void turns_see_through_drift(void **unused)
{
    (void)unused;
    int found = 0, false_alarms = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double a[ROUNDS], b[ROUNDS], c[ROUNDS], walk = 0;
        draw(a, 1, 0.01);
        draw(b, 1.03, 0.01);
        draw(c, 1, 0.01);
        for (int i = 0; i < ROUNDS; i++) {
            walk += 0.2 * normal();
            a[i] *= exp(walk);
            b[i] *= exp(walk);
            c[i] *= exp(walk);
        }
        const bench_verdict v[2] = {judge_in_turns(a, b, ROUNDS), judge_in_turns(a, c, ROUNDS)};
        int decided;
        assert_true(judge_together(&v[0], 1, &decided));
        found += decided == VERDICT_SLOWER;
        assert_true(judge_together(&v[1], 1, &decided));
        false_alarms += decided != VERDICT_UNDECIDED;
    }
    assert_true(found >= 0.95 * TRIALS);
    assert_true(false_alarms <= 0.03 * TRIALS);
}

/*
 * Two builds that are the same, in turns until the noise is low enough. Whoever stops then and there is wrong in 3 to 4
 * of a hundred comparisons, whose verdicts are at 1 %.
 */
static void quiet_by_chance_is_not_enough(void **unused)
{
    (void)unused;
    enum { DUELS = 4 * TRIALS };
    static bench_duel d;
    json_t *row = json_object();
    int false_alarms = 0;
    for (int trial = 0; trial < DUELS; trial++) {
        d = (bench_duel){.row = {row}};
        while (!duel_over(&d, (bench_pace){.noise = 0.01, .seconds = 1}, 0)) {
            d.times[0][0][d.turns] = 1;
            d.times[0][1][d.turns++] = exp(0.03 * normal());
        }
        false_alarms += judge_in_turns(d.times[0][0], d.times[0][1], d.turns).p < 0.01;
    }
    json_decref(row);
    assert_true(false_alarms <= 0.025 * DUELS);
}

/* Twenty cases of one program at a time: hardly a run says anything of any of them. */
static void many_cases_together(void **unused)
{
    (void)unused;
    int runs = 0;
    for (int trial = 0; trial < TRIALS / 4; trial++) {
        bench_verdict v[CASES];
        int decided[CASES], any = 0;
        for (int i = 0; i < CASES; i++) {
            double a[ROUNDS], b[ROUNDS];
            draw(a, 1, 0.02);
            draw(b, 1, 0.02);
            v[i] = judge_apart((bench_side){a, ROUNDS}, (bench_side){b, ROUNDS}, 0, 0);
        }
        assert_true(judge_together(v, CASES, decided));
        for (int i = 0; i < CASES; i++)
            any |= decided[i] != VERDICT_UNDECIDED;
        runs += any;
    }
    assert_true(runs <= 0.05 * TRIALS / 4);
}

/* Logarithms 0 and ln 2, twice each side: mean difference 0, so p = 1; and too few rounds to say anything. */
static void by_hand(void **unused)
{
    (void)unused;
    const double two[] = {1, 2}, four[] = {2, 8}, one[] = {1};
    bench_verdict v = judge_apart((bench_side){two, 2}, (bench_side){two, 2}, 0, 0);
    assert_true(v.ratio == 1 && v.p == 1 && fabs(v.low * v.high - 1) < 1e-12);
    v = judge_in_turns(two, four, 2); /* logarithms ln 2, ln 4: mean 1.5 ln 2, error ln 2 / 2, one degree of freedom */
    assert_true(fabs(v.ratio - pow(2, 1.5)) < 1e-12);
    assert_true(fabs(v.p - (1 - 2 * atan(3) / acos(-1))) < 1e-9);
    assert_true(fabs(log(v.high / v.ratio) / (63.656741 * log(2) / 2) - 1) < 1e-6);
    v = judge_apart((bench_side){one, 1}, (bench_side){two, 2}, 0, 0);
    assert_true(isnan(v.p) && fabs(v.ratio - sqrt(2)) < 1e-12);
    int decided = -1;
    assert_true(judge_together(&v, 1, &decided));
    assert_int_equal(decided, VERDICT_UNDECIDED);
    assert_true(isinf(noise_of(one, 1)));
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};
    assert_true(median_of(odd, 3) == 2 && median_of(even, 4) == 2.5);
}

/* Every half is its own value's bits. */
static void halves(void **unused)
{
    (void)unused;
    for (int bits = 0; bits < 1 << 16; bits++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            const gr_type type = bf16 ? GR_BF16 : GR_F16;
            const double value = half_value(type, (uint16_t)bits);
            if (fabs(value) <= 2)
                assert_int_equal(half_bits(type, value), bits);
        }
    assert_true(half_value(GR_F16, 0x3555) == 0x555 * 0x1p-12 && half_value(GR_F16, 0x0001) == 0x1p-24);
    assert_int_equal(half_bits(GR_F16, 1 + 0x1p-11), 0x3c00); /* ties to even */
    assert_int_equal(half_bits(GR_F16, 1 + 3 * 0x1p-11), 0x3c02);
    assert_int_equal(half_bits(GR_BF16, -1 - 3 * 0x1p-8), 0xbf82);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_is_undecided),
        cmocka_unit_test(three_percent_are_found),
        cmocka_unit_test(turns_see_through_drift),
        cmocka_unit_test(quiet_by_chance_is_not_enough),
        cmocka_unit_test(many_cases_together),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
