/* tell.h - the experiments and what came of them, in words. */
#ifndef GRADUS_TELL_H
#define GRADUS_TELL_H

#include "reproduce/findings.h"

/* All experiments, by publication. */
void tell_list(void);

/* What an experiment is: publication, what it says, what is odd, the commands. */
void tell_experiment(const experiment *e);

/* The runs in a table, and the verdict in a paragraph. */
void tell_findings(const evidence *e, const findings *f);

/* A table by batch size, where the experiment has one: means over seeds, the published figures beside them. */
void tell_by_batch(const evidence *e, const findings *f);

/* The verdict as one line of JSON. */
void tell_json(const evidence *e, const findings *f);

#endif
