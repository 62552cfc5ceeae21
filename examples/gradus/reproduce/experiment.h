/*
 * experiment.h - an experiment of a publication as data: the sweeps that repeat it, the figures that it gives, what it
 * says of them. An arm is a sweep, or another command that is given for each seed; a line is what is told of it.
 * Several arms may make up one line, where the updates of each batch size are others.
 */
#ifndef GRADUS_EXPERIMENT_H
#define GRADUS_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_ARMS = 10, MOST_CLAIMS = 7, MOST_FIGURES = 4, MOST_COLUMNS = 8 };

typedef struct {
    const char *folder; /* below --out; experiments with an arm of the same folder share its runs */
    const char *line;
    bool corrected; /* not as published: it answers what the publication leaves open */
    /*
     * Of gradus sweep, without data, seeds and folder. Words with {seed} are those of another command, given for each
     * seed; its last line is a row, or has "rows". {out} in them stands for the folder of all arms.
     */
    const char *words;
} arm;

/* Runs of a line. */
typedef struct {
    const char *line, *optimizer;
    const char *variant; /* "lr=0.003"; NULL: the line has none. The optimizer of rows without one is "" */
    int64_t batch;       /* 0: all batch sizes, each beside the same one of the other side */
} side;

/* Figures of examples/published.csv and the runs of ours that they stand beside. */
typedef struct {
    const char *experiment, *quantity, *series;
    side ours;
    bool context; /* the publication does not tell its settings: shown, not judged */
} figures;

typedef enum { ABOVE = 1, BELOW, EQUAL } expectation; /* of b, beside a */

typedef struct {
    const char *says; /* a sentence without its full stop */
    bool corrected;   /* a question of ours, which corrected arms answer */
    side a, b;
    expectation expected;
    const char *metric; /* of a row, as gradus compare knows it; NULL: test_accuracy */
    double within;      /* EQUAL: how far from 0 a difference may lie, in the metric's unit */
} claim;

/* A column of a table by batch size: means over seeds. */
typedef struct {
    const char *metric; /* of a row, as gradus compare knows it */
    const char *head;   /* short */
} column;

typedef struct {
    const char *name, *title;
    const char *publication; /* experiments of one stand together in the table */
    const char *says;        /* in our words; its figures stand in examples/published.csv */
    const char *oddities[6]; /* ends with NULL */
    int seeds;
    bool timed; /* it is about time: only a machine that does nothing else can answer */
    arm arms[MOST_ARMS];
    figures figures[MOST_FIGURES];
    claim claims[MOST_CLAIMS];  /* these three end with one without words */
    column table[MOST_COLUMNS]; /* of a table by batch size; {0} where there is none */
} experiment;

extern const experiment experiments_lheureux[], experiments_others[]; /* each ends with one without a name */

const experiment *experiment_at(int i); /* NULL behind the last */

/* The experiment of that name. NULL, with a complaint on stderr, for another name. */
const experiment *experiment_find(const char *name);

const char *experiment_name(int i); /* NULL behind the last */

#endif
