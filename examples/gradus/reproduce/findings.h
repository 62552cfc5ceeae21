/* findings.h - what the runs of an experiment say of its figures and claims. */
#ifndef GRADUS_FINDINGS_H
#define GRADUS_FINDINGS_H

#include "reproduce/evidence.h"
#include "reproduce/figures.h"

typedef enum {
    NO_RUNS,
    ONE_SEED, /* no interval */
    AGREES,
    DISAGREES,
    NOT_SHOWN /* too few seeds for either */
} verdict;

const char *verdict_word(verdict v); /* "agrees" */

/* A published figure beside the runs that it stands beside. */
typedef struct {
    const figures *from;
    figure published;
    sample ours;
    verdict verdict; /* whether it lies where one more run of ours would, 19 times in 20 */
} finding_figure;

typedef struct {
    const claim *of;
    const metric *metric;
    paired found;     /* b - a */
    double corrected; /* probability after Holm's correction over the claims; NAN: none */
    verdict verdict;
} finding_claim;

typedef struct {
    finding_figure figures[MOST_FIGURES * FIGURES_MAX];
    finding_claim claims[MOST_CLAIMS];
    int n_figures, n_claims;
} findings;

/* Returns 0 or an exit code, complained of. */
int findings_make(const evidence *e, findings *f);

/* Half the width of the interval in which one more value falls with probability 0.95; NAN below two values. */
double one_more(const sample *s);

#endif
