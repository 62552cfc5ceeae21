/* bench_duel.c - see bench_duel.h. */
#include "bench/bench_duel.h"

#include <math.h>

/* The noisiest pass's noise of the ratio. */
static double noise(const bench_duel *d)
{
    double worst = 0, ratios[DUEL_MOST];
    for (int pass = 0; pass < DUEL_PASSES && d->row[pass]; pass++) {
        for (int i = 0; i < d->turns; i++)
            ratios[i] = d->times[pass][1][i] / d->times[pass][0][i];
        worst = fmax(worst, noise_of(ratios, d->turns));
    }
    return worst;
}

bool duel_over(const bench_duel *d, bench_pace pace, double spent)
{
    return d->turns == DUEL_MOST || (d->turns >= DUEL_LEAST && (noise(d) <= pace.noise || spent > pace.seconds));
}

int duel_verdicts(bench_duel *d, bench_compared *list)
{
    int n = 0;
    for (int pass = 0; pass < DUEL_PASSES && d->row[pass]; pass++) {
        double *before = d->times[pass][0], *after = d->times[pass][1];
        list[n] = (bench_compared){.row = d->row[pass], .rounds = {d->turns, d->turns}};
        list[n].verdict = judge_in_turns(before, after, d->turns);
        list[n].before = median_of(before, d->turns);
        list[n++].after = median_of(after, d->turns);
    }
    return n;
}
