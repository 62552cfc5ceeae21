/* bench_scaling.h - what gradus bench scaling asks and finds: updates by numbers of ranks, in two ways. */
#ifndef GRADUS_BENCH_SCALING_H
#define GRADUS_BENCH_SCALING_H

#include "bench/bench_scaling_model.h"
#include "bench/bench_scaling_trial.h"
#include "terminal/progress.h"

enum { MOST_COUNTS = 6, MOST_ROUNDS = 100 };
enum { STRONG, WEAK, WAYS };

typedef struct {
    settings run;
    const char *ranks;
    int64_t rounds;
    double seconds; /* of a trial */
    double compute; /* milliseconds, for the model alone; 0: as measured */
} scaling_asks;

/* A number of ranks in one of the ways: its trials, a round each. */
typedef struct {
    scaling_trial last;
    int64_t batch;
    double seconds[MOST_ROUNDS], ratios[MOST_ROUNDS]; /* to the first number of ranks in the same round */
    double small[MOST_ROUNDS], large[MOST_ROUNDS];
    double middle, ratio, sum; /* medians, once all rounds are over; of large */
} rank_trials;

typedef struct {
    const scaling_asks *asks;
    const recipe *recipe;
    int64_t ranks[MOST_COUNTS];
    int n, rounds;
    double processors;
    progress *progress;
    rank_trials of[WAYS][MOST_COUNTS];
} scaling_bench;

/* Seconds that an update is to take: one rank's computing, shared out to as many as have a processor, and the sum. */
double scaling_predict(const scaling_bench *b, const scaling_link *link, int way, int i);

/* Prints all of it beside the model, and the model alone; as lines of JSON. */
void scaling_tell(const scaling_bench *b, const scaling_link *link);
void scaling_tell_json(const scaling_bench *b, const scaling_link *link);

extern const char *const scaling_way_names[WAYS];

#endif
