/*
 * row.h - one result: everything needed to repeat a run and everything measured, as one line of JSON.
 */
#ifndef GRADUS_ROW_H
#define GRADUS_ROW_H

#include <jansson.h>

#include "settings/resolved.h"
#include "train/gpu_watch.h"
#include "train/usage.h"

/* 15 digits: a decimal fraction such as 0.5825 stays what it is, and no float loses a bit. */
#define ROW_FORMAT (JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15))

typedef struct {
    const resolved *run;
    const char *data, *data_hash; /* NULL where the run did not get so far */
    const char *second;           /* of two classes the name of that which precision, recall and F1 are of; or NULL */
    const char *device, *isa, *precision;
    int threads;
    gr_fit_result fit;
    struct {
        int64_t samples; /* 0: not asked for, or the run was stopped */
        double accuracy;
        double seconds;     /* that it took */
    } tta;                  /* the test part in all views */
    json_t *history;        /* an array with an object per epoch; NULL: none */
    json_t *time;           /* where an update's time goes; NULL: not asked for */
    int64_t peak_bytes;     /* 0: not known */
    gpu_use gpu;            /* while training */
    usage usage;            /* likewise */
    const char *bottleneck; /* in words; NULL: not known */
    gr_code code;
    const char *error; /* what went wrong, where something did */
} result;

/* "done", "stopped", "out of memory", "numbers went bad" or "failed". */
const char *row_state(gr_code code);

/* The row, a new reference. A number that is not there or not finite is null. */
json_t *row_json(const result *r);

/* One element of history. */
json_t *row_epoch(const gr_progress *p);

/* The keys of every row whose values are no lists, in order: the columns of results.csv. An array, a new reference. */
json_t *row_columns(void);

#endif
