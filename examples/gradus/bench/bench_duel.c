/* bench_duel.c - see bench_duel.h. */
#include "bench/bench_duel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/complain.h"
#include "terminal/progress.h"

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

bool duel_over(bench_duel *d, bench_pace pace, double spent)
{
    if (d->turns < DUEL_LEAST)
        return false;
    if (!d->quiet && noise(d) <= pace.noise)
        d->quiet = d->turns;
    return d->turns == DUEL_MOST || spent > pace.seconds || (d->quiet && 2 * d->turns >= 3 * d->quiet);
}

/* A verdict for each pass, into list, which takes the rows over. Returns how many. */
static int verdicts(bench_duel *d, bench_compared *list)
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

/* What was played, into list, unless it is left out. Returns how many passes that are. */
static int end(bench_duel *d, const bench_case *c, int64_t batch, bool good, bench_compared *list)
{
    if (good && !*d->left_out)
        return verdicts(d, list);
    if (good)
        complain(GR_USAGE, "bench", "%s at batch size %lld is left out: %s", c->op, (long long)batch, d->left_out);
    for (int pass = 0; pass < DUEL_PASSES; pass++)
        json_decref(d->row[pass]);
    return 0;
}

int duel_all(const bench_settings *s, const bench_case *cases, int n, const int64_t *batches, int n_batches,
             const verdict_sides *sides, duel_play *play)
{
    bench_compared *list = calloc((size_t)(n * n_batches) * DUEL_PASSES + 1, sizeof *list);
    bench_duel *d = malloc(sizeof *d);
    progress p = progress_open();
    int found = 0, code = list && d ? 0 : complain(GR_NO_MEMORY, "bench", "out of host memory for the comparison");
    for (int i = 0; i < n && code == 0; i++)
        for (int b = 0; b < (strstr(cases[i].row, "[N") ? n_batches : 1) && code == 0; b++) {
            progress_bar(&p, cases[i].op, (double)(i * n_batches + b) / (n * n_batches), "");
            memset(d, 0, sizeof *d);
            code = play(s, &cases[i], batches[b], d);
            progress_clear(&p);
            found += end(d, &cases[i], batches[b], code == 0, list + found);
        }
    if (code == 0 && found == 0)
        code = complain(GR_USAGE, "bench", "--against %s: nothing was compared, for the reasons above", s->against);
    if (code == 0)
        code = verdicts_print(list, found, sides, s->json);
    for (int i = 0; list && i < found; i++)
        json_decref((json_t *)list[i].row);
    free(d);
    free(list);
    return code;
}
