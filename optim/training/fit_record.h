/* fit_record.h - a run of gr_fit as a checkpoint has it: written there, and taken from there. */
#ifndef GRADUS_FIT_RECORD_H
#define GRADUS_FIT_RECORD_H

#include "optim/training/checkpoint.h"
#include "optim/training/fit_run.h"

enum { GR__FIT_SETTINGS = 21 };

/* What makes runs differ: how much of which data, what the program names, and how they are trained on. */
typedef struct {
    gr_setting *list; /* to be freed */
    int n, numbers;
    char number[GR__FIT_SETTINGS][32];
} gr_fit_settings;

/* False: recorded. */
bool gr__fit_settings_open(const gr_fit_run *f, gr_fit_settings *s);

/* Writes a checkpoint of the run, and the optimizer's state with it. False: recorded. */
bool gr__fit_record_write(gr_fit_run *f, const char *path);

/* Takes the run itself from a file, behind the optimizer's state. False: recorded. */
bool gr__fit_record_take(gr_fit_run *f, const char *path, const gr_safetensors *file);

#endif
