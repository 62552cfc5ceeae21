/*
 * finder.h - three answers about the batch size of a run, and what follows from them:
 *   fits    the largest batch that memory holds, by plans alone (fits.c), which one real update may confirm (confirm.c)
 *   knee    where more samples in a batch hardly make more samples a second (knee.c)
 *   useful  where more samples in a batch hardly make a better update: the gradient noise scale (useful.c)
 *   advice  the batch size that is soonest at a result (advice.c)
 */
#ifndef GRADUS_FINDER_H
#define GRADUS_FINDER_H

#include "sources/source.h"
#include "terminal/progress.h"

enum { FINDER_SIZES = 24 }; /* powers of two up to MAX_BATCH, and to spare */

/* What is asked. */
typedef struct {
    const recipe *recipe;
    const settings *asked; /* batch: a wish; 0: none */
    double share;          /* of the memory that is free, to be filled */
    const char *command;   /* in whose name to complain */
    progress *progress;
    bool told; /* what is left out of the data is told by another reading of them */
} finder;

/* What bounds the tensors of a run, in bytes; INT64_MAX where something does not. */
typedef struct {
    int64_t host, cgroup, gpu; /* free, the data set being read */
    int64_t limit;             /* --memory-limit */
    int64_t budget;            /* the least of them, the first three by the share */
    const char *binds;         /* whose it is, in words */
} memory_budget;

typedef struct {
    int classes;        /* of the data */
    int64_t samples[3]; /* of training, validation and test */
    const char *data;   /* name of the set */
    int64_t batch;      /* the largest that fits */
    int64_t peak;       /* bytes that it takes */
    bool whole;         /* it is all of the training set */
    int plans;          /* that were made */
    /* of the wish, where that is larger */
    int64_t micro_batch; /* samples at a time; 0: no wish, or it fits */
} fits;

/* An update of that batch size. */
typedef struct {
    int64_t batch;
    double rate;  /* samples a second: by the middle one of the updates' times, in the fastest turn */
    double error; /* its standard error, as a share of it */
    int updates;  /* that were timed, the first ones left out */
} speed;

typedef struct {
    speed speeds[FINDER_SIZES]; /* 1, 2, 4, ... */
    int n;
    int64_t batch; /* the knee */
    bool reached;  /* false: memory or the set ended before the gain did */
    double spread; /* the most that two turns of one size differed by, as a share of the faster; other work did it */
} knee;

typedef struct {
    double scale, error;    /* gradient noise scale in samples, and its standard error; NAN: not known */
    int64_t batch, updates; /* that it was measured with */
    char why[256];          /* not known: why */
} useful;

typedef struct {
    int64_t batch;       /* samples of an update */
    int64_t micro_batch; /* samples in memory at a time; 0: all */
    int64_t accumulate;  /* pieces that an update is made of */
    double lr;
    char reason[400];
} advice;

typedef struct {
    int64_t peak;   /* bytes that the context counted */
    int64_t grown;  /* bytes that the process grew by; -1: not known */
    double seconds; /* of the update with its evaluation */
} confirmation;

/* The batch size that is wished for; 0: none. */
int64_t finder_wish(const finder *f);

/* What is asked as a run with this batch size. */
resolved finder_run(const finder *f, int64_t batch, int64_t micro_batch);

/* A context with the run's data in it, in which to measure. */
typedef struct {
    gr_context *ctx;
    source data;
} site;

/* Reads the data of a run into ctx. Returns 0 or an exit code, complained of. */
int finder_read(const finder *f, gr_context *ctx, const resolved *run, source *data);

/* These three return 0 or an exit code, complained of; a site is to be closed in either case. */
int site_open(const finder *f, site *at);
int find_fits(const finder *f, const site *at, memory_budget *m, fits *out);
int confirm_fits(const finder *f, const fits *found, confirmation *out);
void site_close(site *at);

/* A network and its optimizer where the data are. */
typedef struct {
    gr_module *net;
    gr_optimizer *opt;
} learner;
learner learner_make(const resolved *run, gr_context *ctx, const gr_split *split);

/*
 * How training goes: the scale first, as it wants the weights that training begins with. Where it is not known, why is
 * part of the answer; other errors stay in the context.
 */
void find_useful(const finder *f, const site *at, const learner *l, const fits *found, useful *out);
void find_knee(const finder *f, const site *at, const learner *l, const fits *found, knee *out);

void advise(const finder *f, const fits *found, const knee *k, const useful *u, advice *out);

#endif
