/* bench_duel.h - a case at a batch size, measured by two sides in turns: the other's times, and ours. */
#ifndef GRADUS_BENCH_DUEL_H
#define GRADUS_BENCH_DUEL_H

#include <jansson.h>

#include "bench/bench_timing.h"
#include "bench/bench_verdicts.h"

/* Passes of a case; turns of either side, and the fewest that a verdict is made of. */
enum { DUEL_PASSES = 2, DUEL_MOST = 200, DUEL_LEAST = 6 };

typedef struct {
    json_t *row[DUEL_PASSES];                /* that names each pass there is */
    double times[DUEL_PASSES][2][DUEL_MOST]; /* other, own; seconds, the median of a turn */
    int turns;
    bool left_out; /* a side has measured nothing: it does not fit into memory, or it is wrong and says so */
} bench_duel;

/* Whether enough is known, or so many seconds are over. */
bool duel_over(const bench_duel *d, bench_pace pace, double spent);

/* A verdict for each pass, into list, which takes the rows over. Returns how many. */
int duel_verdicts(bench_duel *d, bench_compared *list);

#endif
