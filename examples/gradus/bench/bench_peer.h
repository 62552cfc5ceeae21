/*
 * bench_peer.h - another program that is asked things while this one measures: lines of JSON to its stdin and from its
 * stdout, numbers behind them. Everything that it is asked has a time limit, so that it cannot hang this one.
 */
#ifndef GRADUS_BENCH_PEER_H
#define GRADUS_BENCH_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#include <jansson.h>

typedef struct {
    pid_t pid;
    int to, from; /* pipes */
    double limit; /* seconds that a question may take */
    double deadline;
    char why[160]; /* it is of no more use; "": it is */
} bench_peer;

/* Starts words[0] with these words, NULL behind the last. False: why says what went wrong. */
bool peer_start(bench_peer *p, char *const *words, double limit);

/* Ends it, whatever it does. */
void peer_stop(bench_peer *p);

/* Sends a question, which is taken over, and begins to count its time. False: why. */
bool peer_ask(bench_peer *p, json_t *question);

/* Bytes behind a question; bytes behind an answer. False: why. */
bool peer_send(bench_peer *p, const void *bytes, size_t n);
bool peer_receive(bench_peer *p, void *bytes, size_t n);

/* The answer, a new reference. NULL: why, which may be the "error" that it answered with. */
json_t *peer_answer(bench_peer *p);

#endif
