/* bench_duel.h - cases at batch sizes, measured by two sides in turns: the other's times, and ours. */
#ifndef GRADUS_BENCH_DUEL_H
#define GRADUS_BENCH_DUEL_H

#include <jansson.h>

#include "bench/bench_settings.h"
#include "bench/bench_timing.h"
#include "bench/bench_verdicts.h"

/* Passes of a case; turns of either side, and the fewest that a verdict is made of. */
enum { DUEL_PASSES = 2, DUEL_MOST = 200, DUEL_LEAST = 6 };

/* A case at a batch size. */
typedef struct {
    json_t *row[DUEL_PASSES];                /* that names each pass there is */
    double times[DUEL_PASSES][2][DUEL_MOST]; /* other, own; seconds, the median of a turn */
    int turns, quiet;                        /* played; when the noise was low enough, 0: not yet */
    char left_out[200]; /* why a side has measured nothing: it does not fit into memory, or it is wrong; "": it has */
} bench_duel;

/*
 * To be asked behind every turn: whether enough is known, or so many seconds are over. Whoever stops when the noise
 * seems low stops where chance makes it seem so, and claims too much: half as many turns again are played, come what
 * may.
 */
bool duel_over(bench_duel *d, bench_pace pace, double spent);

/* Lets both sides measure, into d, or says there why not. Returns 0 or an exit code, complained of. */
typedef int duel_play(const bench_settings *s, const bench_case *c, int64_t batch, bench_duel *d);

/*
 * Plays cases[n] at the batch sizes, names what is left out and prints the verdicts. Returns 0 or an exit code,
 * complained of; GR_USAGE where all is left out.
 */
int duel_all(const bench_settings *s, const bench_case *cases, int n, const int64_t *batches, int n_batches,
             const verdict_sides *sides, duel_play *play);

#endif
